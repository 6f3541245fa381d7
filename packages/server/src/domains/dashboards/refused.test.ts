import { describe, expect, test } from 'vitest';
import {
  BARS,
  type Config,
  chart,
  deploymentId,
  position,
  refused,
  report,
  usePublishing,
  type Widget,
  workbookId,
  world,
} from '../../../test/publishing.ts';

usePublishing();

describe('what cannot be published is a 400 that names the place, and nothing is stored', () => {
  const wrong: [string, () => Promise<Config> | Config, string][] = [
    ['a widget id that is given twice', () => ({ widgets: [text('a'), text('a')] }), 'config.widgets[1].id'],
    ['a chart without a report', () => ({ widgets: [{ ...text('a'), type: 'CHART' }] }), '.config.reportId'],
    [
      'a cross-filter that is no switch',
      () => ({ widgets: [{ ...chart(1), config: { reportId: 1, crossFilter: 'all' } }] }),
      '.config.crossFilter',
    ],
    ['a report that does not exist', () => ({ widgets: [chart(999_999_999)] }), '.config.reportId'],
    [
      'a report of another deployment',
      async () => ({ widgets: [chart(await report(null, {}, (await world.deployment()).id))] }),
      'The widget `a` names a report that does not exist',
    ],
    [
      'a report without a query',
      async () => ({ widgets: [chart(await report(null, { jsonQuery: null }))] }),
      'no query',
    ],
    [
      'a query that is not JSON',
      async () => ({ widgets: [chart(await report(null, { jsonQuery: '{' }))] }),
      'jsonQuery',
    ],
    ['a filter without a member', () => ({ widgets: [{ ...text('a'), type: 'FILTER' }] }), '.config.member'],
    [
      'a filter of an unknown kind',
      () => ({ widgets: [{ ...text('a'), type: 'FILTER', config: { member: 'a.b', kind: 'dial' } }] }),
      '.config.kind',
    ],
    [
      'a time grain without grains',
      () => ({ widgets: [{ ...text('a'), type: 'TIME_GRAIN', config: { member: 'a.b' } }] }),
      '.config.grains',
    ],
    [
      'a time grain that pages do not know',
      () => ({
        widgets: [{ ...text('a'), type: 'TIME_GRAIN', config: { member: 'a.b', grains: ['day', 'decade'] } }],
      }),
      'unknown grain, `decade`',
    ],
    [
      'a preset of a filter without an operator',
      () => ({ widgets: [{ ...text('a'), type: 'FILTER', config: { member: 'a.b', default: 'x' } }] }),
      '.config.default',
    ],
    [
      'an unknown mark',
      async () => ({
        widgets: [
          chart(await report({ chart: { kind: 'vega', spec: { ...BARS, mark: { type: 'bars' } } } })),
        ],
      }),
      'at `mark.type` is unknown: `bars`. The marks are: arc',
    ],
    [
      'a text in the wrong field',
      () => ({ widgets: [{ ...text('a'), config: { content: 'Hello' } }] }),
      '.config.markdown',
    ],
    [
      'a text that is none',
      () => ({ widgets: [{ ...text('a'), config: { markdown: 1 } }] }),
      '.config.markdown',
    ],
    [
      'a long text',
      () => ({ widgets: [{ ...text('a'), config: { markdown: 'x'.repeat(200_000) } }] }),
      '100 KB',
    ],
    ['a container of nothing', () => ({ widgets: [container('a', ['b'])] }), '.config.widgets[0]'],
    [
      'a widget in two containers',
      () => ({ widgets: [container('a', ['c']), container('b', ['c']), text('c')] }),
      'is in a container already',
    ],
    [
      'containers in a circle',
      () => ({ widgets: [container('a', ['b']), tabs('b', ['a'])] }),
      'contains itself',
    ],
    ['a filter of nothing', () => ({ widgets: [filter('a', ['b'])] }), 'config.widgets[0].config.widgets[0]'],
    [
      'a filter of a text',
      () => ({ widgets: [filter('a', ['b']), text('b')] }),
      'config.widgets[0].config.widgets[0]',
    ],
    ['a zone that is none', () => ({ settings: { timezone: 'Mars/Olympus' } }), 'settings.timezone'],
    ['data that are new too often', () => ({ settings: { refreshSeconds: 9 } }), 'settings.refreshSeconds'],
    ['data that are new too rarely', () => ({ settings: { refreshSeconds: 86_401 } }), 'from 10 to 86400'],
    ['a time that is no number', () => ({ settings: { refreshSeconds: '60' } }), 'settings.refreshSeconds'],
    ['a config of more than 1 MB', () => ({ settings: { x: 'x'.repeat(1_100_000) } }), 'larger than 1 MB'],
    [
      'an app of more than 5 MB',
      () => ({ kind: 'APP', app: { html: 'x'.repeat(5_300_000) } }),
      'larger than 5 MB',
    ],
    ['an app without a document', () => ({ kind: 'APP' }), 'needs `html`, or a file `index.html`'],
    [
      'an app that would have to be compiled',
      () => ({ kind: 'APP', app: { entry: 'main.ts', files: { 'main.ts': 'x' } } }),
      'ends with `.html`, `.js` or `.mjs`',
    ],
    [
      'an app of too many files',
      () => ({
        kind: 'APP',
        app: {
          html: 'x',
          files: Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`${i}.js`, ''])),
        },
      }),
      'more than 500 files',
    ],
    [
      'a widget that names no application',
      () => ({ widgets: [application('a')] }),
      'needs the `publicId` of an application',
    ],
    [
      'an application that does not exist',
      () => ({ widgets: [application('a', 'NotThereAtAl')] }),
      'widgets[0].config.publicId',
    ],
    [
      'a dashboard in place of an application',
      async () => ({ widgets: [application('a', await published({ widgets: [] }))] }),
      'names an application that is not published',
    ],
    [
      'an application that was taken back',
      async () => ({ widgets: [application('a', await published(APP, 'and taken back'))] }),
      'names an application that is not published',
    ],
    [
      'an application of another deployment',
      async () => {
        const { id } = await world.deployment();
        return { widgets: [application('a', await published(APP, undefined, id))] };
      },
      'names an application that is not published',
    ],
    [
      'too many applications',
      () => ({ widgets: Array.from({ length: 11 }, (_, i) => application(`a${i}`, 'NotThereAtAl')) }),
      'more than 10 applications',
    ],
    ['an unknown type', () => ({ widgets: [{ ...text('a'), type: 'CLOCK' as 'TEXT' }] }), 'widgets[0].type'],
  ];
  const filter = (id: string, widgets: string[]): Widget => ({
    id,
    type: 'FILTER',
    position,
    config: { member: 'sales.status', widgets },
  });
  const application = (id: string, publicId?: string): Widget => ({
    id,
    type: 'APP',
    position,
    config: publicId ? { publicId } : {},
  });
  /** Publishes the config in a workbook of its own. */
  const published = async (config: Config, then?: 'and taken back', at = deploymentId) => {
    const { id } = await world.admin.createWorkbook({ deploymentId: at, body: { name: 'Other' } });
    const where = { deploymentId: at, workbookId: id };
    const { publicId } = await world.admin.publishDashboard({ ...where, body: { config } });
    if (then) await world.admin.unpublishDashboard(where);
    return publicId;
  };
  const APP: Config = { kind: 'APP', app: { html: '<p>Hello</p>' } };
  const text = (id: string): Widget => ({ id, type: 'TEXT', position });
  const container = (id: string, widgets: string[]): Widget => ({
    id,
    type: 'CONTAINER',
    position,
    config: { widgets },
  });
  const tabs = (id: string, widgets: string[]): Widget => ({
    id,
    type: 'CONTAINER',
    position,
    config: { tabs: [{ title: 'One', widgets }] },
  });
  test.each(wrong)('%s', async (_name, config, message) => {
    const error = await refused({ config: await config() });
    expect(error).toMatchObject({ status: 400 });
    expect(JSON.stringify(error)).toContain(message);
    const workbook = await world.admin.getWorkbook({ deploymentId, workbookId });
    expect(workbook).toMatchObject({ dashboardPublished: null });
    expect(workbook).not.toHaveProperty('publishedDashboard');
  });

  const specs: [string, object, string][] = [
    [
      'data from an address',
      { ...BARS, data: { url: 'https://example.com/rows.json' } },
      'at `data` must be absent',
    ],
    ['data of its own', { layer: [{ ...BARS, data: { values: [1] } }] }, 'layer[0].data'],
    [
      'a member with a dot',
      { mark: 'bar', encoding: { x: { field: 'sales.status', type: 'nominal' } } },
      'write `sales__status`',
    ],
    ['pictures', { mark: 'point', encoding: { url: { field: 'a' } } }, 'encoding.url'],
    ['links', { ...BARS, encoding: { ...BARS.encoding, href: { value: 'x' } } }, 'encoding.href'],
    ['colours', { ...BARS, config: { mark: { color: 'red' } } }, 'config'],
    [
      'an unknown mark',
      { mark: 'bar', encoding: { x: { field: 'a', type: 'nominal', axis: { labelExpr: 'nothing(' } } } },
      'does not compile',
    ],
    [
      'an expression that is none',
      { ...BARS, transform: [{ calculate: 'datum.a +', as: 'b' }] },
      'does not compile',
    ],
    ['a pointer', { ...BARS, mark: { type: 'bar', cursor: 'pointer' } }, 'at `mark.cursor`'],
    ['a param for the pointer', { ...BARS, params: [{ name: 'cursor', expr: "'auto'" }] }, 'params[0].name'],
    ['an input', withParam({ value: 1, bind: { input: 'range' } }), 'at `params[0].bind`'],
    [
      'an input for a selection',
      withParam({ select: { type: 'point', fields: ['a'] }, bind: { a: { input: 'password' } } }),
      'at `params[0].bind`',
    ],
    [
      'events of the window',
      withParam({ value: '', on: [{ events: 'window:keydown', update: 'event.key' }] }),
      'at `params[0].on`',
    ],
    [
      'a selection by events of the document',
      withParam({ select: { type: 'point', on: 'document:keydown' } }),
      'at `params[0].select.on`',
    ],
    [
      'a selection by events in a list',
      withParam({ select: { type: 'point', on: [{ source: 'body', type: 'click' }] } }),
      'at `params[0].select.on`',
    ],
    [
      'a selection that ends by events of the window',
      withParam({ select: { type: 'point', clear: 'window:keydown' } }),
      'at `params[0].select.clear`',
    ],
    [
      'a selection that moves by events of the window',
      withParam({
        select: { type: 'interval', translate: '[window:keydown, window:keyup] > window:keydown' },
      }),
      'at `params[0].select.translate`',
    ],
    [
      'a selection with code',
      withParam({ select: { type: 'point', toggle: 'event.target.ownerDocument' } }),
      'at `params[0].select.toggle`',
    ],
    [
      'a selection as they once were',
      { ...BARS, selection: { a: { type: 'single', on: 'window:keydown' } } },
      'at `selection`',
    ],
    [
      'a picture as colour',
      { ...BARS, mark: { type: 'bar', fill: 'URL(//a.example/b#c)' } },
      'at `mark.fill`',
    ],
    ['a picture by code', { ...BARS, mark: { type: 'bar', fill: { expr: "'url(' + 1" } } }, 'mark.fill.expr'],
    ['a mark of pictures', { mark: 'image', encoding: BARS.encoding }, 'at `mark`'],
    ['a mark of pictures with options', { mark: { type: 'image' }, encoding: {} }, 'at `mark.type`'],
    ['a loader', { ...BARS, loader: {} }, 'at `loader`'],
    ['an event', withParam({ expr: 'event.target' }), 'at `params[0].expr`'],
    ['an event in other letters', withParam({ expr: '\\u0065vent.item' }), 'at `params[0].expr`'],
    ['the view', { ...BARS, transform: [{ calculate: 'view()._el', as: 'b' }] }, 'transform[0].calculate'],
    [
      'rows that are changed by a parameter',
      { ...BARS, params: [{ name: 'p', update: "modify('rows', { a: 1 })" }] },
      'params[0].update',
    ],
    ['an item', { ...BARS, mark: { type: 'bar', fill: { expr: "item['_svg']" } } }, 'at `mark.fill.expr`'],
    ['an item in a filter', { ...BARS, transform: [{ filter: { and: ['item().a'] } }] }, 'filter.and[0]'],
    ['half an expression', { ...BARS, transform: [{ filter: { not: 'a) || (event.b' } }] }, 'filter.not'],
    ['a deep nest', JSON.parse(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`) as object, 'nested too deeply'],
  ];
  function withParam(param: object) {
    return { ...BARS, params: [{ name: 'a', ...param }] };
  }
  test.each(specs)('a chart with %s', async (_name, spec, message) => {
    const reportId = await report({ chart: { kind: 'vega', spec } });
    const error = await refused({ config: { widgets: [chart(reportId)] } });
    expect(error).toMatchObject({ status: 400 });
    expect(JSON.stringify(error)).toContain(message);
    expect(JSON.stringify(error)).toContain('The report `Revenue` of the widget `a`');
  });

  const charts: [string, object, string][] = [
    ['an unknown kind', { kind: 'pie' }, 'meta.chart.kind'],
    ['no measure', { kind: 'kpi', spec: {} }, 'meta.chart.spec.measure'],
    ['no place', { kind: 'map', spec: { measure: 'a.b' } }, 'meta.chart.spec.member'],
    ['columns that are no list', { kind: 'table', spec: { columns: 1 } }, 'meta.chart.spec.columns'],
    [
      'a comparison without an offset',
      { kind: 'table', periodComparisons: [{ measure: 'a' }] },
      'periodComparisons',
    ],
    [
      'a comparison by a unit that pages do not know',
      {
        kind: 'table',
        periodComparisons: [
          { measure: 'a.b', timeDimension: 'a.t', offset: { amount: 1, unit: 'fortnight' } },
        ],
      },
      'periodComparisons[0].offset.unit',
    ],
  ];
  test.each(charts)('a report with %s', async (_name, given, message) => {
    const error = await refused({ config: { widgets: [chart(await report({ chart: given }))] } });
    expect(error).toMatchObject({ status: 400 });
    expect(JSON.stringify(error)).toContain(message);
  });

  test('reports of more than 5 MB together', async () => {
    const large = () => report({ chart: { kind: 'table', spec: {} } }, { sqlQuery: 'x'.repeat(256 * 1024) });
    const ids = await Promise.all(Array.from({ length: 21 }, large));
    const error = await refused({ config: { widgets: ids.map((id) => chart(id, `w${id}`)) } });
    expect(error).toMatchObject({ status: 400 });
    expect(JSON.stringify(error)).toContain('larger than 5 MB');
  });

  test('another workbook, or the dashboard of another workbook', async () => {
    expect(await refused({ config: {}, workbookId: workbookId + 1 })).toMatchObject({ status: 400 });
    expect(await refused({ config: {}, dashboardId: 999_999_999 })).toMatchObject({ status: 400 });
    expect(await refused({})).toMatchObject({ code: 'dashboard_without_draft' });
  });
});
