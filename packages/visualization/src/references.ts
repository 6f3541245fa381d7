/** Lines and bands across a chart: a target, a limit, the average. */
import { type Column, fieldOf } from './columns.ts';
import { type Part, quoted } from './encodings.ts';
import type { Visualization } from './types.ts';

const OPERATIONS = { average: 'mean', median: 'median', min: 'min', max: 'max' } as const;
const AT = 'reference_at';
const TO = 'reference_to';
const LABEL = 'reference_label';

/** Each is drawn from one row, made of all rows, so that it is drawn once. */
export function referencesOf({ references }: Visualization, measure: Column, isHorizontal: boolean): Part[] {
  const [along, across] = isHorizontal ? ['x', 'x2'] : ['y', 'y2'];
  return (references ?? []).flatMap(({ value, to, measure: statistic, label, color }) => {
    if (value == null && !statistic) return [];
    const field = fieldOf(measure.member);
    const one = statistic
      ? { aggregate: [{ op: OPERATIONS[statistic], field, as: AT }] }
      : { aggregate: [{ op: 'count', as: 'reference_rows' }] };
    const transform: Part[] = [
      one,
      ...(statistic ? [] : [{ calculate: String(value), as: AT }]),
      ...(to == null ? [] : [{ calculate: String(to), as: TO }]),
      ...(label ? [{ calculate: quoted(label), as: LABEL }] : []),
    ];
    const position = { field: AT, type: 'quantitative' };
    const shape: Part =
      to == null
        ? {
            transform,
            mark: { type: 'rule', strokeDash: [4, 4], strokeWidth: 1.5, ...(color ? { color } : {}) },
            encoding: { [along!]: position },
          }
        : {
            transform,
            mark: { type: 'rect', opacity: 0.12, ...(color ? { color } : {}) },
            encoding: { [along!]: position, [across!]: { field: TO } },
          };
    if (!label) return [shape];
    const place = isHorizontal
      ? { align: 'left', baseline: 'top', dx: 4, y: 2 }
      : { align: 'right', baseline: 'bottom', dy: -3, x: { expr: 'width' } };
    const text = {
      transform,
      mark: { type: 'text', fontSize: 11, ...place, ...(color ? { color } : {}) },
      encoding: { [along!]: position, text: { field: LABEL, type: 'nominal' } },
    };
    return [shape, text];
  });
}
