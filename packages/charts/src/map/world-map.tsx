/** Countries in colours. The geometry is Natural Earth's, in the public domain, and comes with this part of the board. */
import { useEffect, useState } from 'preact/hooks';
import { drillFrom } from '../drill-query.ts';
import { shownOf } from '../format.ts';
import type { DrawProps } from '../rows.ts';
import { opensOn, useBoard, useShared } from '../shared.ts';
import type { Row } from '../types.ts';
import { Tooltip } from '../vega/tooltip.tsx';
import { Table } from '../widgets/table.tsx';
import { type MapView, mapOf } from './places.ts';
import world from './world.json' with { type: 'json' };

export function WorldMap(props: DrawProps) {
  const {
    widgetId,
    snapshot,
    title,
    rows: { rows, result, query },
  } = props;
  const { board, drill } = useShared();
  const { formats, say } = board;
  const [hovered, setHovered] = useState<{ x: number; y: number; row: Row; name: string }>();
  useEffect(() => board.rendered(widgetId), [rows]);

  const map = mapOf(snapshot, props.rows, board);
  if (!map) return <Table {...props} />;
  const { member, measure, shown, format, viewBox, hasCountries, nameOf } = map;
  const opens =
    measure !== '' && opensOn(board, { widgetId, annotation: result.annotation, member: measure, query });
  const { latitude, longitude } = (snapshot.spec ?? {}) as Record<string, string>;
  const placeLines = (row: Row) =>
    [latitude!, longitude!].map((field) => ({
      label: shownOf(result.annotation, field)?.shortTitle ?? field,
      text: String(row[field]),
    }));
  const open = (row: Row, name: string) =>
    drill(
      drillFrom({
        ...{ widgetId, title, member: measure, row, query, value: row[measure], format },
        annotation: result.annotation,
        ...(hasCountries ? { names: { [member]: name } } : {}),
      }),
    );
  return (
    <div class="map">
      <svg
        viewBox={viewBox.join(' ')}
        // Lines are as wide as on the whole map.
        style={{ '--zoom': String(viewBox[2]! / world.width) }}
        role="img"
        aria-label={say('mapOf', { title, count: formats.count(rows.length) })}
      >
        {map.shapes.map(({ country, path, row, color }) => (
          <path
            key={country[2]}
            d={path}
            class={row ? (opens ? 'land known opens' : 'land known') : 'land'}
            style={color ? { fill: color } : {}}
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
        {map.points?.map(({ x, y, r, row }, i) => (
          <circle
            key={i}
            cx={x}
            cy={y}
            r={r}
            class={opens ? 'map-point opens' : 'map-point'}
            onClick={opens ? () => open(row, String(row[member] ?? '')) : undefined}
            onMouseMove={({ clientX, clientY }) =>
              setHovered({ x: clientX, y: clientY, row, name: String(row[member] ?? '') })
            }
            onMouseLeave={() => setHovered(undefined)}
          />
        ))}
      </svg>
      {map.points ? measure && <SizeLegend {...map} /> : <ColorLegend {...map} />}
      {hovered && (
        <Tooltip
          x={hovered.x}
          y={hovered.y}
          lines={[
            ...(member
              ? [
                  {
                    label: shownOf(result.annotation, member)?.shortTitle ?? member,
                    // A region is not called by the country that the pointer is on.
                    text: hasCountries ? hovered.name : String(hovered.row[member]),
                  },
                ]
              : []),
            ...(measure
              ? [
                  {
                    label: shown?.shortTitle ?? measure,
                    text: formats.value(hovered.row[measure], shown, format),
                  },
                ]
              : placeLines(hovered.row)),
          ]}
        />
      )}
    </div>
  );
}

function ColorLegend({ lowest, highest, hasUnknown }: MapView) {
  const { tokens, say } = useBoard();
  return (
    <div class="map-legend" aria-hidden="true">
      <span>{lowest}</span>
      <span class="ramp">
        {tokens.ramp.map((color) => (
          <span key={color} class="swatch" style={{ background: color }} />
        ))}
      </span>
      <span>{highest}</span>
      {hasUnknown && (
        <span class="no-data">
          <span class="swatch" />
          {say('noData')}
        </span>
      )}
    </div>
  );
}

/** A small and a large point. */
const SizeLegend = ({ lowest, highest }: MapView) => (
  <div class="map-legend" aria-hidden="true">
    <span class="map-size small" />
    <span>{lowest}</span>
    <span class="map-size" />
    <span>{highest}</span>
  </div>
);
