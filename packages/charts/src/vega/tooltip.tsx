import { useBoard } from '../shared.ts';

export interface TooltipLine {
  label: string;
  text: string;
  /** The colour of a series. */
  color?: string | undefined;
  /** Whether a click leads to the rows behind it. */
  isChosen?: boolean;
}

export interface TooltipProps {
  x: number;
  y: number;
  lines: TooltipLine[];
  hint?: string | undefined;
}

const LINE_HEIGHT = 20;
const MARGIN = 60;

/** Beside the pointer, and inside of the board. */
export function Tooltip({ x, y, lines, hint }: TooltipProps) {
  const { say, formats } = useBoard();
  const { clientWidth, clientHeight } = document.documentElement;
  const { shown, hidden } = fitting(lines, Math.floor((clientHeight - MARGIN) / LINE_HEIGHT));
  const height = 20 + (shown.length + (hidden || hint ? 1 : 0)) * LINE_HEIGHT;
  const isRight = x > clientWidth / 2;
  const across = isRight ? { right: `${clientWidth - x + 12}px` } : { left: `${x + 12}px` };
  const top = Math.max(4, Math.min(y + 12, clientHeight - height - 8));
  return (
    <div class="tooltip" role="presentation" style={{ ...across, top: `${top}px` }}>
      <dl>
        {shown.map(({ label, text, color, isChosen }, i) => (
          <div key={`${i} ${label}`} class={isChosen ? 'chosen' : ''}>
            <dt>
              {color && <span class="swatch" style={{ background: color }} />}
              {label}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {hidden > 0 && <p>{say('andMore', { count: formats.count(hidden) })}</p>}
      {hint && <p>{hint}</p>}
    </div>
  );
}

/** The lines that fit on the screen: the head, and of the series those around the chosen one. */
function fitting(lines: TooltipLine[], max: number) {
  if (lines.length <= max) return { shown: lines, hidden: 0 };
  const head = lines.filter(({ isChosen }) => isChosen === undefined);
  const series = lines.slice(head.length);
  const room = Math.max(1, max - head.length - 1);
  const chosen = Math.max(
    0,
    series.findIndex(({ isChosen }) => isChosen),
  );
  const from = Math.max(0, Math.min(chosen - Math.floor(room / 2), series.length - room));
  return { shown: [...head, ...series.slice(from, from + room)], hidden: series.length - room };
}
