/** The cubes and their joins as a picture: zoom, find, and what each cube is made of. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { attempt } from '../parts/toasts.tsx';
import { addressOf } from '../place.ts';
import { goToPlace } from './editor.tsx';
import { BOX, layOut } from './layout.ts';
import type { KnownCube } from './messages.ts';
import { mayAsk, type StudioProps } from './props.ts';
import { type Answer, ask, GeneratedSql, Rows } from './rows.tsx';
import { say } from './say.ts';

export function Graph(properties: StudioProps & { show(): void }) {
  const cubes = properties.studio.cubes.value;
  const [search, setSearch] = useState('');
  const [zoom, setZoom] = useState(1);
  const [chosen, choose] = useState<string>();
  const scroller = useRef<HTMLDivElement>(null);
  // A join is seen from both sides, and drawn from the one that belongs to the other.
  const shown = cubes.map((one) => ({
    ...one,
    joins: one.joins.filter(({ relationship }) => relationship !== 'one_to_many'),
  }));
  const placed = useMemo(() => layOut(shown), [cubes]);
  const all = [...placed.values()];
  const width = Math.max(...all.map(({ x }) => x + BOX.width), 0) + 20;
  const height = Math.max(...all.map(({ y }) => y + BOX.height), 0) + 20;
  const wanted = search.trim().toLowerCase();
  const isFound = (name: string) => wanted !== '' && name.toLowerCase().includes(wanted);
  const zoomTo = (next: number, at?: { x: number; y: number }) => {
    const element = scroller.current!;
    const factor = Math.min(3, Math.max(0.2, next)) / zoom;
    const { x, y } = at ?? { x: element.clientWidth / 2, y: element.clientHeight / 2 };
    // What is under the pointer stays there.
    pending.current = {
      left: (element.scrollLeft + x) * factor - x,
      top: (element.scrollTop + y) * factor - y,
    };
    setZoom(zoom * factor);
  };
  const pending = useRef<{ left: number; top: number } | undefined>(undefined);
  useLayoutEffect(() => {
    if (pending.current) scroller.current!.scrollTo(pending.current);
    pending.current = undefined;
  }, [zoom]);
  // A listener of Preact could not keep the page from scrolling.
  useEffect(() => {
    const element = scroller.current!;
    const turn = (event: WheelEvent) => {
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      zoomTo(zoom * 1.0015 ** -event.deltaY, { x: event.clientX - left, y: event.clientY - top });
    };
    element.addEventListener('wheel', turn, { passive: false });
    return () => element.removeEventListener('wheel', turn);
  }, [zoom]);
  // The picture follows what is chosen, also by its name or by a join.
  useEffect(() => {
    const place = chosen === undefined ? undefined : placed.get(chosen);
    const element = scroller.current!;
    if (!place) return;
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    element.scrollTo({
      left: (place.x + BOX.width / 2 + 10) * zoom - element.clientWidth / 2,
      top: (place.y + BOX.height / 2 + 10) * zoom - element.clientHeight / 2,
      behavior: isCalm ? 'auto' : 'smooth',
    });
  }, [chosen]);
  const drag = (event: PointerEvent) => {
    const element = scroller.current!;
    if (event.button !== 0 || event.pointerType === 'touch') return;
    const start = { x: event.clientX, y: event.clientY, left: element.scrollLeft, top: element.scrollTop };
    const move = (to: PointerEvent) =>
      element.scrollTo(start.left - to.clientX + start.x, start.top - to.clientY + start.y);
    const end = () => {
      removeEventListener('pointermove', move);
      removeEventListener('pointerup', end);
    };
    addEventListener('pointermove', move);
    addEventListener('pointerup', end);
  };
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
            const text = event.currentTarget.value.trim().toLowerCase();
            const named = text ? shown.filter(({ name }) => name.toLowerCase().includes(text)) : [];
            const found = named.find(({ name }) => name.toLowerCase() === text) ?? named[0];
            if (found) choose(found.name);
          }}
        />
        <button type="button" aria-label={say('zoomOut')} onClick={() => zoomTo(zoom / 1.25)}>
          −
        </button>
        <button type="button" aria-label={say('zoomIn')} onClick={() => zoomTo(zoom * 1.25)}>
          +
        </button>
      </div>
      <div class="graph-parts">
        <div
          ref={scroller}
          class="graph-scroll"
          tabIndex={0}
          role="region"
          aria-label={say('graph')}
          onPointerDown={drag}
        >
          <svg
            width={width * zoom}
            height={height * zoom}
            viewBox={`-10 -10 ${width} ${height}`}
            role="group"
          >
            <title>{say('graph')}</title>
            {shown.flatMap(({ name, joins, isView }) =>
              joins
                .filter(({ to }) => placed.has(to))
                .map(({ to, relationship }) => (
                  <Edge
                    key={`${name} ${to}`}
                    from={placed.get(name)!}
                    to={placed.get(to)!}
                    label={relationship}
                    isView={isView}
                    isNear={chosen === name || chosen === to}
                  />
                )),
            )}
            {shown.map((one) => {
              const { x, y } = placed.get(one.name)!;
              return (
                <g
                  key={one.name}
                  class={`graph-cube${one.isView ? ' view' : ''}${chosen === one.name ? ' chosen' : ''}${isFound(one.name) ? ' found' : ''}`}
                  transform={`translate(${x} ${y})`}
                  role="button"
                  tabIndex={0}
                  aria-label={one.isView ? `${one.name} (${say('view')})` : one.name}
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
                    {one.isView && `${say('view')} · `}
                    {say('memberCount', { count: one.members.length })}
                  </text>
                </g>
              );
            })}
          </svg>
        </div>
        {cube && <About key={cube.name} {...properties} cube={cube} choose={choose} />}
      </div>
    </div>
  );
}

const Edge = ({
  from,
  to,
  label,
  isNear,
  isView,
}: {
  from: { x: number; y: number };
  to: { x: number; y: number };
  label: string;
  isNear: boolean;
  isView: boolean;
}) => {
  const [above, below] = from.y <= to.y ? [from, to] : [to, from];
  const [x1, y1] = [above.x + BOX.width / 2, above.y + BOX.height];
  const [x2, y2] = [below.x + BOX.width / 2, below.y];
  const path = `M${x1} ${y1}C${x1} ${y1 + 40} ${x2} ${y2 - 40} ${x2} ${y2}`;
  return (
    <path class={`graph-edge${isNear ? ' near' : ''}${isView ? ' view' : ''}`} d={path}>
      <title>{label}</title>
    </path>
  );
};

/** What a cube is made of, the SQL of its rows, and some of them. */
function About({
  studio,
  may,
  cube,
  choose,
  show,
}: StudioProps & {
  cube: KnownCube;
  choose(name: string): void;
  show(): void;
}) {
  const [answer, setAnswer] = useState<Answer>();
  const { deploymentId, branch } = studio;
  const named = (kind: string) =>
    cube.members
      .filter((member) => member.kind === kind && member.isPublic)
      .map(({ name }) => `${cube.name}.${name}`);
  const load = () =>
    attempt(async () => {
      // The branch is asked as it is saved.
      await studio.save();
      const dimensions = named('dimension').slice(0, 20);
      const query = dimensions.length
        ? { dimensions, ungrouped: true, limit: 20 }
        : { measures: named('measure').slice(0, 20) };
      setAnswer(await ask(studio, query));
    });
  return (
    <section class="graph-about" aria-label={cube.name}>
      <h2>{cube.title ?? cube.name}</h2>
      {cube.description && <p class="soft">{cube.description}</p>}
      {!cube.isView && <pre class="studio-log">{cube.query || `select * from ${cube.table}`}</pre>}
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
        {mayAsk(branch, may) && (
          <button type="button" onClick={() => void load()}>
            {say('showRows')}
          </button>
        )}
        {branch.isDefault && (
          <a class="button" href={addressOf(deploymentId, 'explore')}>
            {say('exploreCube')}
          </a>
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
      {answer && (
        <>
          <GeneratedSql sql={answer.sql} />
          <Rows rows={answer.rows} label={say('rows')} />
        </>
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
