export interface TooltipLine {
  label: string;
  text: string;
}

export interface Placed {
  x: number;
  y: number;
  lines: TooltipLine[];
}

/** Beside the pointer, and inside of the page. */
export function Tooltip({ x, y, lines }: Placed) {
  const isRight = x > document.documentElement.clientWidth / 2;
  const isLow = y > document.documentElement.clientHeight - 40 - lines.length * 24;
  const across = isRight
    ? { right: `${document.documentElement.clientWidth - x + 12}px` }
    : { left: `${x + 12}px` };
  const down = isLow
    ? { bottom: `${document.documentElement.clientHeight - y + 12}px` }
    : { top: `${y + 12}px` };
  return (
    <div class="tooltip" role="presentation" style={{ ...across, ...down }}>
      <dl>
        {lines.map(({ label, text }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
