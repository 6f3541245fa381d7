/** A small chart of bars. Screen readers get its name and `total`, so the page must have the numbers elsewhere too. */
import { shownNumber } from './lists.ts';

const [WIDTH, HEIGHT] = [240, 60];
/** The least number of bars to make room for, so that the first few are not wide blocks. */
const BARS_MIN = 20;

export interface Bar {
  /** What it stands for, such as a day. */
  label: string;
  value: number;
}

export function Bars({
  title,
  bars,
  total,
  shown = shownNumber,
}: {
  title: string;
  bars: readonly Bar[];
  total: string;
  shown?(value: number): string;
}) {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const step = WIDTH / Math.max(BARS_MIN, bars.length);
  const gap = Math.min(2, step / 4);
  return (
    <figure class="console-card bars">
      <figcaption>
        {title} <strong>{total}</strong>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${total}`}
      >
        {bars.map(({ label, value }, i) => {
          const height = Math.max(value > 0 ? 2 : 0, (value / most) * HEIGHT);
          return (
            <rect key={label} x={i * step} y={HEIGHT - height} width={step - gap} height={height}>
              <title>{`${label}: ${shown(value)}`}</title>
            </rect>
          );
        })}
      </svg>
    </figure>
  );
}
