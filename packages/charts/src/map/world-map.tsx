/** Countries in colours. The geometry is Natural Earth's, in the public domain, and comes with this part of the board. */
import { useEffect, useState } from 'preact/hooks';
import { canDrill, drillFrom } from '../drill-query.ts';
import { shownOf } from '../format.ts';
import type { DrawProps } from '../rows.ts';
import { useShared } from '../shared.ts';
import type { Row } from '../types.ts';
import { Tooltip } from '../vega/tooltip.tsx';
import { Table } from '../widgets/table.tsx';
import { fitting } from './fit.ts';
import { regionOf } from './regions.ts';
import world from './world.json';

type Country = [alpha2: string, alpha3: string, name: string, path: string];

export function WorldMap(props: DrawProps) {
  const {
    widgetId,
    snapshot,
    title,
    rows: { rows, result, query },
  } = props;
  const { board, drill } = useShared();
  const { tokens, formats, say, locale } = board;
  const [hovered, setHovered] = useState<{ x: number; y: number; row: Row; name: string }>();
  useEffect(() => board.rendered(widgetId), [rows]);

  const member: string = snapshot.spec?.member ?? query.dimensions?.[0] ?? '';
  const measure: string = snapshot.spec?.measure ?? query.measures?.[0] ?? '';
  const shown = shownOf(result.annotation, measure);
  const format = snapshot.preferences?.columnFormats?.[measure];
  const names = new Intl.DisplayNames([locale], { type: 'region', fallback: 'none' });
  const found = new Map<string, Row>();
  for (const row of rows)
    found.set(
      String(row[member] ?? '')
        .trim()
        .toLowerCase(),
      row,
    );
  const named = ([alpha2, alpha3, name]: Country) =>
    [alpha2, alpha3, name, nameOf(alpha2)]
      .map((key) => found.get(String(key).toLowerCase()))
      .find((row) => row);
  const hasCountries = (world.countries as Country[]).some(named);
  // Rows are about countries or about regions, not about both.
  const rowOf = (country: Country) =>
    hasCountries ? named(country) : found.get(regionOf(country[0], found));
  function nameOf(alpha2: string) {
    try {
      return names.of(alpha2);
    } catch {
      return undefined;
    }
  }
  const countries = (world.countries as Country[]).map((country) => ({ country, row: rowOf(country) }));
  if (!countries.some(({ row }) => row)) return <Table {...props} />;
  const values = [...new Set(countries.flatMap(({ row }) => (row ? [Number(row[measure])] : [])))]
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  // By rank, so that one large country does not make all others look alike.
  const colorOf = (row: Row) => {
    const rank = values.length > 1 ? values.indexOf(Number(row[measure])) / (values.length - 1) : 1;
    return tokens.ramp[
      Math.min(tokens.ramp.length - 1, Math.max(0, Math.round(rank * (tokens.ramp.length - 1))))
    ];
  };
  const hasValue = (row: Row | undefined): row is Row =>
    row !== undefined && row[measure] !== null && Number.isFinite(Number(row[measure]));
  const known = countries.filter(({ row }) => hasValue(row));
  const viewBox = known.length
    ? fitting(
        known.map(({ country }) => country[3]),
        world,
      )
    : [0, 0, world.width, world.height];
  const opens = canDrill(result.annotation, measure);
  const open = (row: Row, name: string) =>
    drill(
      drillFrom({
        ...{ widgetId, title, member: measure, row, query, value: row[measure], format },
        annotation: result.annotation,
        ...(hasCountries ? { names: { [member]: name } } : {}),
      }),
    );
  const [lowest, highest] = formats.ends([values[0], values.at(-1)], shown, format);
  return (
    <div class="map">
      <svg
        viewBox={viewBox.join(' ')}
        // Lines are as wide as on the whole map.
        style={{ '--zoom': String(viewBox[2]! / world.width) }}
        role="img"
        aria-label={say('mapOf', { title, count: formats.count(rows.length) })}
      >
        {countries.map(({ country, row }) => (
          <path
            key={country[2]}
            d={country[3]}
            class={row ? (opens ? 'land known opens' : 'land known') : 'land'}
            style={hasValue(row) ? { fill: colorOf(row) } : {}}
            onClick={row && opens ? () => open(row, nameOf(country[0]) ?? country[2]) : undefined}
            onMouseMove={
              row
                ? (event) =>
                    setHovered({
                      x: event.clientX,
                      y: event.clientY,
                      row,
                      name: nameOf(country[0]) ?? country[2],
                    })
                : undefined
            }
            onMouseLeave={() => setHovered(undefined)}
          />
        ))}
      </svg>
      <div class="map-legend" aria-hidden="true">
        <span>{lowest}</span>
        <span class="ramp">
          {tokens.ramp.map((color) => (
            <span key={color} class="swatch" style={{ background: color }} />
          ))}
        </span>
        <span>{highest}</span>
        {known.length < countries.length && (
          <span class="no-data">
            <span class="swatch" />
            {say('noData')}
          </span>
        )}
      </div>
      {hovered && (
        <Tooltip
          x={hovered.x}
          y={hovered.y}
          lines={[
            {
              label: shownOf(result.annotation, member)?.shortTitle ?? member,
              // A region is not called by the country that the pointer is on.
              text: hasCountries ? hovered.name : String(hovered.row[member]),
            },
            { label: shown?.shortTitle ?? measure, text: formats.value(hovered.row[measure], shown, format) },
          ]}
        />
      )}
    </div>
  );
}
