/** Nothing is lost: not to undo, and not to another person. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changesBetween, isSame, setIn, startsWith, withChange } from './changes.ts';
import { configOf, type Doc, docOf, type Widget, widgetsOf } from './doc.ts';
import { change, historyOf, redo, STEPS_MAX, undo } from './history.ts';
import { merge, settleLayout, valueAt } from './merge.ts';
import { Session, type StoredDraft, type UnsavedDraft } from './session.ts';

const text = (id: string, y: number, markdown = id): Widget => ({
  id,
  type: 'TEXT',
  position: { x: 0, y, w: 6, h: 2 },
  config: { markdown },
});
const BASE = docOf({ title: 'Sales', widgets: [text('a', 0), text('b', 2), text('c', 4)] });

const titled = (title: string) => (doc: Doc) => {
  doc.title = title;
};
const titles = fc.constantFrom('one', 'two', 'three');
const ids = fc.constantFrom('a', 'b', 'c', 'd', 'e');
/** What a person may do to a draft. */
const step = fc.oneof(
  titles.map((title) => (doc: Doc) => ({ ...doc, title })),
  fc.tuple(ids, titles).map(
    ([id, markdown]) =>
      (doc: Doc) =>
        withChange(doc, { path: ['widgets', id, 'config', 'markdown'], after: markdown }),
  ),
  fc.tuple(ids, titles).map(
    ([id, title]) =>
      (doc: Doc) =>
        withChange(doc, { path: ['widgets', id, 'config', 'title'], after: title }),
  ),
  ids.map((id) => (doc: Doc) => withChange(doc, { path: ['widgets', id], after: undefined })),
  fc.tuple(ids, fc.nat(9)).map(
    ([id, y]) =>
      (doc: Doc) =>
        settleLayout(withChange(doc, { path: ['widgets', id], after: text(id, y) })),
  ),
);
const steps = fc.array(step, { maxLength: 5 }).map((all) => all.reduce((doc, one) => one(doc), BASE));

test('a draft becomes the same config again, whatever it holds', () => {
  const config = {
    kind: 'CLASSIC' as const,
    theme: { primaryColor: '#123456' },
    settings: { timezone: 'UTC' },
    widgets: [text('a', 0)],
  };
  expect(configOf(docOf(config))).toEqual(config);
  expect(configOf(docOf(null))).toEqual({ widgets: [] });
});

test('undo and redo go back and forth over everything, 200 steps, and typing is one step', () => {
  let history = historyOf(BASE);
  for (let i = 0; i < STEPS_MAX + 20; i++) history = change(history, `Title ${i}`, titled(`Title ${i}`));
  expect(history.done).toHaveLength(STEPS_MAX);
  for (let i = 0; i < STEPS_MAX; i++) history = undo(history);
  expect(history.doc.title).toBe('Title 19');
  expect(undo(history)).toEqual(history);
  for (let i = 0; i < STEPS_MAX; i++) history = redo(history);
  expect(history.doc.title).toBe(`Title ${STEPS_MAX + 19}`);

  let typed = historyOf(BASE);
  for (const [i, title] of ['S', 'Sa', 'Sal'].entries())
    typed = change(typed, 'Rename', titled(title), { key: 'title', now: i * 100 });
  typed = change(typed, 'Rename', titled('Later'), { key: 'title', now: 60_000 });
  expect(typed.done).toHaveLength(2);
  expect(undo(typed).doc.title).toBe('Sal');
  expect(undo(undo(typed)).doc.title).toBe('Sales');
});

test('a step about a widget that others removed is left out, and those before it still work', () => {
  let history = historyOf(BASE);
  history = change(history, 'Rename', titled('New'));
  history = change(history, 'Edit', (doc) => setIn(doc, ['widgets', 'a', 'config', 'markdown'], 'mine'));
  const others = withChange(history.doc, { path: ['widgets', 'a'], after: undefined });
  const back = undo({ ...history, doc: others });
  expect(back.doc.title).toBe('Sales');
  expect(widgetsOf(back.doc).map(({ id }) => id)).toEqual(['b', 'c']);
});

test('changes of different widgets merge, and of the same field a person decides', () => {
  const mine = withChange(BASE, { path: ['widgets', 'a', 'config', 'markdown'], after: 'mine' });
  const theirs = withChange(BASE, { path: ['widgets', 'b', 'config', 'markdown'], after: 'theirs' });
  const merged = merge(BASE, mine, theirs);
  expect(merged.conflicts).toEqual([]);
  expect(merged.theirs).toMatchObject([{ path: ['widgets', 'b', 'config', 'markdown'] }]);
  expect(widgetsOf(merged.doc).map(({ config }) => config?.markdown)).toEqual(['mine', 'theirs', 'c']);

  const same = withChange(BASE, { path: ['widgets', 'a', 'config', 'markdown'], after: 'theirs' });
  const path = ['widgets', 'a', 'config', 'markdown'];
  expect(merge(BASE, mine, same).conflicts).toEqual([{ path, mine: 'mine', theirs: 'theirs' }]);
  const removed = withChange(BASE, { path: ['widgets', 'a'], after: undefined });
  expect(merge(BASE, mine, removed).conflicts).toMatchObject([
    { path: ['widgets', 'a'], mine: { config: { markdown: 'mine' } }, theirs: undefined },
  ]);
});

test('of two random sides, every change is in the result or is asked about', () => {
  fc.assert(
    fc.property(steps, steps, (mine, theirs) => {
      const { doc, conflicts } = merge(BASE, mine, theirs);
      const isAsked = (path: readonly string[]) =>
        conflicts.some((conflict) => startsWith(path, conflict.path) || startsWith(conflict.path, path));
      for (const side of [mine, theirs])
        for (const { path, after } of changesBetween(BASE, side)) {
          if (path.includes('position') || isAsked(path)) continue;
          const found = valueAt(doc, path);
          // A new widget may have made way.
          const plain = (value: unknown) =>
            path.length === 2 ? (value as Widget | undefined)?.config : value;
          expect(isSame(plain(found), plain(after))).toBe(true);
        }
      expect(settleLayout(doc)).toEqual(doc);
      expect([...doc.order].sort()).toEqual(Object.keys(doc.widgets).sort());
      // The same on both sides is no conflict.
      expect(merge(BASE, mine, mine)).toMatchObject({ conflicts: [] });
    }),
    { numRuns: 300 },
  );
});

/** A server, and a browser that keeps what is not saved. */
function place(failure?: unknown) {
  const server = { stored: { config: configOf(BASE), etag: '1' } as StoredDraft, failure };
  const store = {
    load: async () => server.stored,
    async save(config: StoredDraft['config'], etag: string | undefined) {
      if (server.failure) throw server.failure;
      if (etag !== server.stored.etag) return 'outdated' as const;
      server.stored = { config, etag: String(Number(etag) + 1) };
      return server.stored.etag;
    },
  };
  let kept: UnsavedDraft | undefined;
  const open = () =>
    new Session(
      store,
      server.stored,
      { merged() {}, saved() {} },
      {
        kept: kept && structuredClone(kept),
        keep(now) {
          kept = now && structuredClone(now);
          return true;
        },
      },
    );
  return { server, open, kept: () => kept };
}

test.each([
  ['the connection', new TypeError('offline')],
  ['the session', { status: 401 }],
])(
  'what could not be saved without %s is back after a reload, beside what others did',
  async (_what, failure) => {
    const { server, open, kept } = place(failure);
    const first = open();
    first.change('Rename', titled('Mine'));
    await first.save();
    first.stop();
    expect([first.isUnsaved, first.isEndangered]).toEqual([true, false]);
    const others = withChange(BASE, { path: ['widgets', 'a', 'config', 'markdown'], after: 'theirs' });
    server.stored = { config: configOf(others), etag: '7' };
    server.failure = undefined;
    const second = open();
    await Promise.resolve();
    await second.save();
    second.stop();
    expect(server.stored).toEqual({ config: configOf({ ...others, title: 'Mine' }), etag: '8' });
    expect(kept()).toBeUndefined();
  },
);

test('both sides of what nobody has decided yet survive a reload', async () => {
  const { server, open, kept } = place(new TypeError('offline'));
  const first = open();
  first.change('Rename', titled('Mine'));
  first.stop();
  server.stored = { config: { ...configOf(BASE), title: 'Theirs' }, etag: '7' };
  for (let reload = 0; reload < 2; reload++) {
    const next = open();
    await Promise.resolve();
    next.stop();
    expect(next.conflicts.value).toEqual([{ path: ['title'], mine: 'Mine', theirs: 'Theirs' }]);
    expect(kept()?.mine.title).toBe('Mine');
  }
});

test.each([
  ['mine', 'Mine', 'Theirs'],
  ['theirs', 'Theirs', 'Mine'],
] as const)('whoever keeps %s has the other one after an undo', async (choice, kept, after) => {
  const { server, open } = place();
  const session = open();
  session.change('Rename', titled('Mine'));
  server.stored = { config: { ...configOf(BASE), title: 'Theirs' }, etag: '7' };
  await session.refresh();
  const names = { mine: 'Keep mine', theirs: 'Keep theirs', both: 'Keep both' };
  session.resolve(names, new Map(session.conflicts.value.map((one) => [one, choice])));
  expect(session.doc.title).toBe(kept);
  session.undo();
  expect(session.doc.title).toBe(after);
  session.redo();
  session.stop();
  expect(session.doc.title).toBe(kept);
});

test('of two texts of one widget, both can be kept as two widgets', async () => {
  const { server, open } = place();
  const session = open();
  const write = (text: string) => ({ path: ['widgets', 'a', 'config', 'markdown'], after: text });
  session.change('Write', (doc) => setIn(doc, write('mine').path, 'mine'));
  server.stored = { config: configOf(withChange(BASE, write('theirs'))), etag: '7' };
  await session.refresh();
  const names = { mine: '', theirs: '', both: 'Keep both' };
  session.resolve(names, new Map(session.conflicts.value.map((one) => [one, 'both' as const])));
  session.stop();
  const texts = Object.values(session.doc.widgets).map(({ config }) => config?.markdown);
  expect(texts).toEqual(expect.arrayContaining(['mine', 'theirs']));
  expect(settleLayout(session.doc)).toEqual(session.doc);
});
