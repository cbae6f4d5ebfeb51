import { render } from "preact";
import { Console } from "./page/console";
import { returnToPlace } from "./page/returning";
import "./style/base.css";
import "./style/ask.css";
import "./style/chart.css";
import "./style/explain.css";
import "./style/rooms.css";
import "./style/ingest.css";

returnToPlace();
const root = document.getElementById("console");
if (root !== null) {
  render(<Console />, root);
}
