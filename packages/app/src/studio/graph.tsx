/** The cubes and their joins as a picture: zoom, find, and what each cube is made of. */
import { useMemo, useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { attempt } from '../parts/toasts.tsx';
import { addressOf } from '../place.ts';
import { goToPlace } from './editor.tsx';
import { BOX, layOut } from './layout.ts';
import type { KnownCube } from './messages.ts';
import { say } from './say.ts';
import type { Studio } from './studio.ts';

export function Graph({ studio, show }: { studio: Studio; show(): void }) {
  const cubes = studio.cubes.value;
  const [search, setSearch] = useState('');
  const [zoom, setZoom] = useState(1);
  const [chosen, choose] = useState<string>();
  // A join is seen from both sides, and drawn from the one that belongs to the other.
  const shown = cubes
    .filter(({ isView }) => !isView)
    .map((one) => ({
      ...one,
      joins: one.joins.filter(({ relationship }) => relationship !== 'one_to_many'),
    }));
  const placed = useMemo(() => layOut(shown), [cubes]);
  const all = [...placed.values()];
  const width = Math.max(...all.map(({ x }) => x + BOX.width), 0) + 20;
  const height = Math.max(...all.map(({ y }) => y + BOX.height), 0) + 20;
  const isFound = (name: string) => search !== '' && name.includes(search.trim().toLowerCase());
  const cube = cubes.find(({ name }) => name === chosen);
  return (
    <div class="studio-graph">
      <div class="studio-bar">
        <input
          type="search"
          aria-label={say('findCube')}
          placeholder={say('findCube')}
          value={search}
          onInput={(event) => {
            setSearch(event.currentTarget.value);
            const found = shown.find(({ name }) =>
              name.includes(event.currentTarget.value.trim().toLowerCase()),
            );
            if (found && event.currentTarget.value) choose(found.name);
          }}
        />
        <button type="button" aria-label={say('zoomOut')} onClick={() => setZoom(Math.max(0.3, zoom / 1.25))}>
          −
        </button>
        <button type="button" aria-label={say('zoomIn')} onClick={() => setZoom(Math.min(3, zoom * 1.25))}>
          +
        </button>
      </div>
      <div class="graph-parts">
        <div class="graph-scroll" tabIndex={0} role="region" aria-label={say('graph')}>
          <svg
            width={width * zoom}
            height={height * zoom}
            viewBox={`-10 -10 ${width} ${height}`}
            role="group"
          >
            <title>{say('graph')}</title>
            {shown.flatMap(({ name, joins }) =>
              joins
                .filter(({ to }) => placed.has(to))
                .map(({ to, relationship }) => (
                  <Edge
                    key={`${name} ${to}`}
                    from={placed.get(name)!}
                    to={placed.get(to)!}
                    label={relationship}
                    isNear={chosen === name || chosen === to}
                  />
                )),
            )}
            {shown.map((one) => {
              const { x, y } = placed.get(one.name)!;
              return (
                <g
                  key={one.name}
                  class={`graph-cube${chosen === one.name ? ' chosen' : ''}${isFound(one.name) ? ' found' : ''}`}
                  transform={`translate(${x} ${y})`}
                  role="button"
                  tabIndex={0}
                  aria-label={one.name}
                  aria-pressed={chosen === one.name}
                  onClick={() => choose(one.name)}
                  onKeyDown={(event) => {
                    if (event.key !== 'Enter' && event.key !== ' ') return;
                    event.preventDefault();
                    choose(one.name);
                  }}
                >
                  <rect width={BOX.width} height={BOX.height} rx="8" />
                  <text x={BOX.width / 2} y="19" text-anchor="middle">
                    {one.name.length > 22 ? `${one.name.slice(0, 21)}…` : one.name}
                  </text>
                  <text class="small" x={BOX.width / 2} y="35" text-anchor="middle">
                    {say('memberCount', { count: one.members.length })}
                  </text>
                </g>
              );
            })}
          </svg>
        </div>
        {cube && <About key={cube.name} studio={studio} cube={cube} choose={choose} show={show} />}
      </div>
    </div>
  );
}

const Edge = ({
  from,
  to,
  label,
  isNear,
}: {
  from: { x: number; y: number };
  to: { x: number; y: number };
  label: string;
  isNear: boolean;
}) => {
  const [above, below] = from.y <= to.y ? [from, to] : [to, from];
  const [x1, y1] = [above.x + BOX.width / 2, above.y + BOX.height];
  const [x2, y2] = [below.x + BOX.width / 2, below.y];
  const path = `M${x1} ${y1}C${x1} ${y1 + 40} ${x2} ${y2 - 40} ${x2} ${y2}`;
  return (
    <path class={isNear ? 'graph-edge near' : 'graph-edge'} d={path}>
      <title>{label}</title>
    </path>
  );
};

/** What a cube is made of, the SQL of its rows, and some of them. */
function About({
  studio,
  cube,
  choose,
  show,
}: {
  studio: Studio;
  cube: KnownCube;
  choose(name: string): void;
  show(): void;
}) {
  const [rows, setRows] = useState<readonly Record<string, unknown>[]>();
  const { deploymentId, branch } = studio;
  const dimensions = cube.members
    .filter(({ kind }) => kind === 'dimension')
    .map(({ name }) => `${cube.name}.${name}`);
  const load = () =>
    attempt(async () => {
      const query = { dimensions: dimensions.slice(0, 20), ungrouped: true, limit: 20 };
      const { data } = (await api.load({ deploymentId, body: { query } })) as {
        data: Record<string, unknown>[];
      };
      setRows(data);
    });
  const columns = rows?.[0] ? Object.keys(rows[0]) : [];
  return (
    <section class="graph-about" aria-label={cube.name}>
      <h2>{cube.title ?? cube.name}</h2>
      {cube.description && <p class="soft">{cube.description}</p>}
      <pre class="studio-log">{cube.query || `select * from ${cube.table}`}</pre>
      <p class="buttons">
        <button
          type="button"
          onClick={() => {
            goToPlace(studio, cube.file, cube.line);
            show();
          }}
        >
          {say('openFile')}
        </button>
        {branch.isDefault && (
          <>
            <button type="button" onClick={() => void load()}>
              {say('showRows')}
            </button>
            <a class="button" href={addressOf(deploymentId, 'explore')}>
              {say('exploreCube')}
            </a>
          </>
        )}
      </p>
      {cube.joins.length > 0 && (
        <ul class="meanings">
          {cube.joins.map(({ to, relationship }) => (
            <li key={to}>
              <button type="button" class="quiet" onClick={() => choose(to)}>
                {to}
              </button>{' '}
              <span class="soft">{relationship}</span>
            </li>
          ))}
        </ul>
      )}
      {rows && (
        <div class="diff-scroll" tabIndex={0} role="region" aria-label={say('rows')}>
          <table class="items">
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column} scope="col">
                    {column.split('.')[1]}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, i) => (
                <tr key={i}>
                  {columns.map((column) => (
                    <td key={column}>{String(row[column] ?? '')}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <ul class="meanings">
        {cube.members.map(({ name, kind, type, title }) => (
          <li key={name}>
            <code>{name}</code>{' '}
            <span class="soft">
              {kind} {type} {title}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
