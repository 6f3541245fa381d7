import { expect, test } from 'vitest';
import { chartsInSight, tabsOf, topLevel } from './layout.ts';
import type { Widget } from './types.ts';

const position = { x: 0, y: 0, w: 1, h: 1 };
const chart = (id: string): Widget => ({ id, type: 'CHART', position });
const container = (id: string, config: object): Widget => ({ id, type: 'CONTAINER', position, config });
const ids = (widgets: Widget[]) => widgets.map(({ id }) => id);

const WIDGETS = [
  chart('alone'),
  container('tabs', {
    widgets: ['beside'],
    tabs: [
      { title: 'One', widgets: ['first'] },
      { title: 'Two', widgets: ['inner'] },
    ],
  }),
  container('inner', { widgets: ['hidden'] }),
  container('outer', { widgets: ['nested', 'nobody'] }),
  container('nested', { widgets: ['shown', 'outer'] }),
  ...['beside', 'first', 'hidden', 'shown'].map(chart),
];

test('charts are in sight if they are in the first tab of every container around them', () => {
  const widgets = WIDGETS.map((widget) =>
    widget.id === 'nested' ? container('nested', { widgets: ['shown'] }) : widget,
  );
  expect(ids(chartsInSight(widgets))).toEqual(['alone', 'first', 'shown']);
});

test('widgets in containers are not at the top', () => {
  expect(ids(topLevel(WIDGETS))).toEqual(['alone', 'tabs']);
});

test('containers that contain each other end', () => {
  const top = container('top', { widgets: ['outer'] });
  expect(ids(chartsInSight([...WIDGETS, top]))).toEqual(['alone', 'first', 'shown']);
});

test('lists that are none are empty', () => {
  const odd = [container('a', { widgets: 'b', tabs: 3 }), container('b', { tabs: [null, { widgets: {} }] })];
  expect(odd.map(tabsOf)).toEqual([[{ widgets: [] }], [{ widgets: [] }, { widgets: [] }]]);
  expect(chartsInSight(odd)).toEqual([]);
});
