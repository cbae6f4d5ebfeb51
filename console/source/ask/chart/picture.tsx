import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Column } from "../../gateway/answers";
import { type Choice, isScaled, isTemporal } from "./axes";
import { describe, short } from "./describe";
import type { Point, Points } from "./points";
import { type Mark, type Scale, numberScale, placed, timeScale } from "./scales";

const HEIGHT = 320;
const [TOP, RIGHT, BOTTOM, LEFT] = [14, 18, 50, 72];
const PX_PER_MARK = 90;
const PX_PER_LABEL = 76;
const MOST_LABEL = 11;
// More would be too close to point at.
const MOST_WITH_TITLES = 500;
const MOST_DOTS_ON_LINE = 60;

interface Props {
  drawn: Points;
  choice: Choice;
  columns: readonly Column[];
}

interface Axes {
  width: number;
  right: number;
  low: number;
  bottom: Scale;
  side: Scale;
  /** Whether the bottom has a place for each row instead of a scale. */
  isBanded: boolean;
}

export function Picture({ drawn, choice, columns }: Props): JSX.Element {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(720);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) {
      return undefined;
    }
    const watcher = new ResizeObserver(() => setWidth(Math.max(260, element.clientWidth)));
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  const axes = useMemo(() => axesOf(drawn.points, choice, columns[choice.x], width), [drawn, choice, columns, width]);
  return (
    <div class="chart-frame" ref={frame}>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} width={width} height={HEIGHT} role="img" aria-label={describe(drawn.points, choice)}>
        <Lines axes={axes} />
        <Shapes points={drawn.points} axes={axes} kind={choice.kind} />
        <text class="axis-name" x={(LEFT + axes.right) / 2} y={HEIGHT - 6} text-anchor="middle">{short(choice.xName, 60)}</text>
        <text class="axis-name" transform={`translate(13 ${(TOP + axes.low) / 2}) rotate(-90)`} text-anchor="middle">{short(choice.yName, 36)}</text>
      </svg>
    </div>
  );
}

function axesOf(points: readonly Point[], choice: Choice, bottom: Column | undefined, width: number): Axes {
  const [right, low] = [width - RIGHT, HEIGHT - BOTTOM];
  const wanted = Math.max(2, Math.floor((right - LEFT) / PX_PER_MARK));
  const isBanded = choice.kind === "bar" || bottom === undefined || !isScaled(bottom);
  const places = points.map((point) => point.x);
  const scale = isBanded ? bands(points, right - LEFT) : isTemporal(bottom) ? timeScale(places, wanted) : numberScale(places, wanted);
  const side = numberScale(points.map((point) => point.y), 5, choice.kind === "bar");
  return { width, right, low, bottom: scale, side, isBanded };
}

/** A place for each row, with as many labels as there is room for. */
function bands(points: readonly Point[], room: number): Scale {
  const every = Math.max(1, Math.ceil(points.length / Math.max(1, Math.floor(room / PX_PER_LABEL))));
  const marks = points.flatMap((point, place): Mark[] => (place % every === 0 ? [{ value: place, text: short(point.xText, MOST_LABEL) }] : []));
  return { least: -0.5, most: points.length - 0.5, marks };
}

function Lines({ axes }: { axes: Axes }): JSX.Element {
  const { right, low, bottom, side, isBanded } = axes;
  return (
    <g aria-hidden="true">
      {side.marks.map((mark) => {
        const y = placed(mark.value, side, low, TOP);
        return (
          <>
            <path class={mark.value === 0 ? "zero" : "line-at"} d={`M${LEFT} ${y}H${right}`} />
            <text x={LEFT - 8} y={y + 4} text-anchor="end">{mark.text}</text>
          </>
        );
      })}
      {bottom.marks.map((mark) => {
        const x = placed(mark.value, bottom, LEFT, right);
        return (
          <>
            {!isBanded && <path class="line-at" d={`M${x} ${TOP}V${low}`} />}
            <text x={x} y={low + 18} text-anchor="middle">{mark.text}</text>
          </>
        );
      })}
      <path class="zero" d={`M${LEFT} ${low}H${right}`} />
    </g>
  );
}

function Shapes({ points, axes, kind }: { points: readonly Point[]; axes: Axes; kind: Choice["kind"] }): JSX.Element {
  const { right, low, bottom, side } = axes;
  const at = (point: Point): [number, number] => [
    round(placed(point.x, bottom, LEFT, right)),
    round(placed(point.y, side, low, TOP)),
  ];
  if (kind === "bar") {
    const zero = placed(0, side, low, TOP);
    const wide = Math.max(1, Math.min(64, ((right - LEFT) / points.length) * 0.72));
    return (
      <g class="bars">
        {points.map((point) => {
          const [x, y] = at(point);
          return (
            <rect x={round(x - wide / 2)} y={Math.min(y, zero)} width={round(wide)} height={Math.max(0.5, Math.abs(zero - y))}>
              <title>{titleOf(point)}</title>
            </rect>
          );
        })}
      </g>
    );
  }
  const most = kind === "line" ? MOST_DOTS_ON_LINE : MOST_WITH_TITLES;
  const places = points.map(at);
  return (
    <g>
      {kind === "line" && <path class="line-of" d={`M${places.map(([x, y]) => `${x} ${y}`).join("L")}`} />}
      {points.length > most
        ? kind === "scatter" && <path class="dots" d={places.map(([x, y]) => `M${x} ${y}h0`).join("")} />
        : points.map((point, place) => (
            <circle cx={places[place]?.[0]} cy={places[place]?.[1]} r={kind === "line" ? 3 : 3.5}>
              <title>{titleOf(point)}</title>
            </circle>
          ))}
    </g>
  );
}

function titleOf(point: Point): string {
  return `${short(point.xText, 200)}: ${short(point.yText, 200)}`;
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}
