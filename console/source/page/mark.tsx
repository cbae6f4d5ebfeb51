import type { JSX } from "preact";

export function Mark(): JSX.Element {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path d="M7 9h18M7 16h10M7 23h5" />
    </svg>
  );
}
