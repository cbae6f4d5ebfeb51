import { Component, type ComponentChildren, type JSX } from "preact";

interface Props {
  /** What the part is called, in the sentence that takes its place. */
  name: string;
  /** What the part shows. With another one, it is drawn again. */
  subject?: string;
  children: ComponentChildren;
}

interface State {
  error: unknown;
  hasFailed: boolean;
}

/** A part of the page whose defects stay in it. The parts beside it, and what was typed there, are left alone. */
export class Contained extends Component<Props, State> {
  override state: State = { error: null, hasFailed: false };

  static override getDerivedStateFromError(error: unknown): State {
    return { error, hasFailed: true };
  }

  override componentDidCatch(error: unknown): void {
    // For who reports it: the browser's console has the place in the code.
    console.error(error);
  }

  override componentDidUpdate(before: Props): void {
    if (this.state.hasFailed && before.subject !== this.props.subject) {
      this.again();
    }
  }

  private readonly again = (): void => this.setState({ error: null, hasFailed: false });

  override render({ name, children }: Props, { error, hasFailed }: State): ComponentChildren | JSX.Element {
    if (!hasFailed) {
      return children;
    }
    return (
      <section class="problem" role="alert">
        <p><code>CONSOLE</code> <span class="detail">A defect of this page: “{name}” cannot be drawn. The rest of the page works, and nothing is lost at the gateway.</span></p>
        <p class="note mono">{String(error)}</p>
        <p><button type="button" class="link" onClick={this.again}>Draw it again</button></p>
      </section>
    );
  }
}
