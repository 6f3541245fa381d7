/** One widget, by its type. What fails in it stays in it. */
import { Component, type ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Grid } from '../grid.tsx';
import { tabsOf } from '../layout.ts';
import { lazy } from '../lazy.tsx';
import { Markdown } from '../markdown.tsx';
import { pictureOf } from '../picture.ts';
import { useScrollHint } from '../scroll-hint.ts';
import { useBoard } from '../shared.ts';
import type { Widget } from '../types.ts';
import { Card, Chart, Failure } from './chart.tsx';

const Application = lazy(() => import('./application.tsx').then(({ Application }) => Application));
const Filter = lazy(() => import('./filter.tsx').then(({ Filter }) => Filter));
const Thread = lazy(() => import('./thread.tsx').then(({ Thread }) => Thread));

export function WidgetView({ widget }: { widget: Widget }) {
  return (
    <Guard widgetId={widget.id}>
      <Kind widget={widget} />
    </Guard>
  );
}

function Kind({ widget }: { widget: Widget }) {
  const { id, type, config } = widget;
  const board = useBoard();
  const problem = typeof config?.problem === 'string' ? config.problem : undefined;
  useEffect(() => {
    if (!problem) return;
    board.rendered(id);
    board.refused(id, problem);
  }, [problem]);
  if (problem) return <Card title="" body={<Failure problem={undefined} />} />;
  switch (type) {
    case 'CHART':
      return <Chart widget={widget} />;
    case 'TEXT':
      if (config?.image != null) return <Picture config={config} />;
      return <Markdown text={String(config?.markdown ?? '')} />;
    case 'FILTER':
      return <Filter widget={widget} />;
    case 'TIME_GRAIN':
      return <TimeGrain widget={widget} />;
    case 'CONTAINER':
      return <Container widget={widget} />;
    case 'DIVIDER':
      return <hr class="divider" />;
    case 'APP':
      return <Application widget={widget} />;
    case 'AI':
      return <Thread widget={widget} />;
    default:
      return null;
  }
}

/** What may not be drawn is said in its words. */
function Picture({ config }: { config: NonNullable<Widget['config']> }) {
  const picture = useMemo(() => pictureOf(config), [config.image, config.alt]);
  return (
    <div class="picture">
      {picture ? <img src={picture.source} alt={picture.alt} /> : String(config.alt ?? '')}
    </div>
  );
}

class Guard extends Component<{ widgetId: string; children: ComponentChildren }, { hasFailed: boolean }> {
  override state = { hasFailed: false };
  override componentDidCatch(error: unknown) {
    // For the people who write dashboards: the viewer can do nothing about it.
    console.error(`the widget ${this.props.widgetId} cannot be shown:`, error);
    this.setState({ hasFailed: true });
  }
  render() {
    return this.state.hasFailed ? (
      <Failed widgetId={this.props.widgetId} onRetry={() => this.setState({ hasFailed: false })} />
    ) : (
      this.props.children
    );
  }
}

function Failed({ widgetId, onRetry }: { widgetId: string; onRetry(): void }) {
  const board = useBoard();
  board.rendered(widgetId);
  return (
    <div class="card">
      <div class="empty" role="alert">
        <strong>{board.say('failed')}</strong>
        <button type="button" onClick={onRetry}>
          {board.say('tryAgain')}
        </button>
      </div>
    </div>
  );
}

const GRAINS = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const;

function TimeGrain({ widget: { config } }: { widget: Widget }) {
  const board = useBoard();
  const member = String(config?.member ?? '');
  const grains = GRAINS.filter((grain) => (config?.grains ?? ['day', 'week', 'month']).includes(grain));
  const chosen = board.grains.get(member) ?? config?.default;
  return (
    <fieldset class="control segments no-print">
      <legend>{config?.title ?? board.say('grain')}</legend>
      <div class="segment-row">
        {grains.map((grain) => (
          <button
            key={grain}
            type="button"
            aria-pressed={chosen === grain}
            onClick={() => board.setGrain(member, grain)}
          >
            {board.say(grain)}
          </button>
        ))}
      </div>
    </fieldset>
  );
}

function Container({ widget }: { widget: Widget }) {
  const { id, config } = widget;
  const board = useBoard();
  const [open, setOpen] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  useScrollHint(list);
  const tabs = tabsOf(widget);
  const widgets = (tabs[open]?.widgets ?? []).flatMap(
    (inner) => board.widgets.find((other) => other.id === inner && inner !== id) ?? [],
  );
  const onKey = (event: KeyboardEvent) => {
    const towards = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!towards) return;
    const step = board.isRightToLeft ? -towards : towards;
    const next = (open + step + tabs.length) % tabs.length;
    setOpen(next);
    (event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
  };
  return (
    <section class="container">
      {config?.title && <h2>{String(config.title)}</h2>}
      {tabs.length > 1 && (
        <div class="tabs scrolls no-print" role="tablist" ref={list} onKeyDown={onKey}>
          {tabs.map((tab, i) => (
            <button
              key={tab.title}
              type="button"
              role="tab"
              id={`${id}-tab-${i}`}
              aria-selected={i === open}
              aria-controls={`${id}-panel`}
              tabIndex={i === open ? 0 : -1}
              onClick={() => setOpen(i)}
            >
              {tab.title ?? i + 1}
            </button>
          ))}
        </div>
      )}
      <div
        role={tabs.length > 1 ? 'tabpanel' : undefined}
        id={`${id}-panel`}
        aria-labelledby={tabs.length > 1 ? `${id}-tab-${open}` : undefined}
      >
        <Grid key={open} widgets={widgets}>
          {(inner) => <WidgetView widget={inner} />}
        </Grid>
      </div>
    </section>
  );
}
