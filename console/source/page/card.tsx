import type { ComponentChildren, JSX } from "preact";

interface Props {
  title: ComponentChildren;
  tools?: ComponentChildren;
  children: ComponentChildren;
}

/** A part of a room, with its title and its buttons. */
export function Card({ title, tools, children }: Props): JSX.Element {
  return (
    <section class="card">
      <div class="card-head"><h2>{title}</h2>{tools}</div>
      {children}
    </section>
  );
}
