/** Settings of containers: their tabs, and which widgets are inside. */
import { configIn, putInto } from './edits.ts';
import { Group, SelectField, TextField } from './fields.tsx';
import { say } from './say.ts';
import { TitleField, type WidgetProps } from './settings.tsx';
import { widgetsOf } from './state/doc.ts';
import { familyOf, tabsOf, topLevelOf } from './state/widgets.ts';

export function ContainerSettings({ editor, widget, config, set }: WidgetProps) {
  const tabs = tabsOf(widget);
  const title = editor.titleOf(widget);
  const name = say('stepEdit', { title });
  /** The first tab takes over what the container holds; without tabs, the container takes it back. */
  const addTab = () =>
    editor.session.change(name, (doc) => {
      const own = configIn<{ tabs?: object[]; widgets?: string[] }>(doc, widget.id);
      const before = Array.isArray(own.tabs) ? own.tabs : [];
      const first = before.length ? [] : [{ title: say('tab', { number: 1 }), widgets: own.widgets ?? [] }];
      own.tabs = [
        ...before,
        ...first,
        { title: say('tab', { number: before.length + first.length + 1 }), widgets: [] },
      ];
      delete own.widgets;
    });
  const removeTab = (at: number) =>
    editor.session.change(name, (doc) => {
      const own = doc.widgets[widget.id]!.config as { tabs: { widgets?: string[] }[]; widgets?: string[] };
      const [gone] = own.tabs.splice(at, 1);
      const rest = own.tabs[0];
      if (rest) rest.widgets = [...(rest.widgets ?? []), ...(gone?.widgets ?? [])];
      if (own.tabs.length > 1) return;
      own.widgets = rest?.widgets ?? gone?.widgets ?? [];
      own.tabs = [];
    });
  return (
    <>
      <TitleField config={config} set={set} />
      {tabs.length === 0 ? (
        <Inside
          editor={editor}
          widget={widget}
          tab={0}
          title={say('inside')}
          ids={(config.widgets as string[]) ?? []}
        />
      ) : (
        tabs.map((tab, i) => (
          <Group key={`${i}`} title={tab.title || say('tab', { number: i + 1 })}>
            <TextField
              label={say('title')}
              value={tab.title ?? ''}
              onChange={(text) =>
                set(
                  'tabs',
                  tabs.map((one, at) => (at === i ? { ...one, title: text } : one)),
                )
              }
            />
            <Inside
              editor={editor}
              widget={widget}
              tab={i}
              title={say('insideTab', { title: tab.title || say('tab', { number: i + 1 }) })}
              ids={tab.widgets ?? []}
            />
            <button type="button" class="quiet" onClick={() => removeTab(i)}>
              {say('removeTab', { title: tab.title || String(i + 1) })}
            </button>
          </Group>
        ))
      )}
      <button type="button" onClick={addTab}>
        {say('addTab')}
      </button>
    </>
  );
}

function Inside({
  editor,
  widget,
  tab,
  title,
  ids,
}: Pick<WidgetProps, 'editor' | 'widget'> & { tab: number; title: string; ids: string[] }) {
  const own = new Set(familyOf(editor.doc, widget.id));
  const outside = topLevelOf(widgetsOf(editor.doc)).filter(({ id }) => !own.has(id) && id !== widget.id);
  const put = (id: string, container: { id: string; tab: number } | null) =>
    editor.session.change(say('stepEdit', { title: editor.titleOf(widget) }), (doc) =>
      putInto(doc, id, container),
    );
  return (
    <div>
      <ul class="plain">
        {ids
          .flatMap((id) => editor.widget(id) ?? [])
          .map((inner) => (
            <li key={inner.id} class="reach">
              <button type="button" class="quiet" onClick={() => editor.select([inner.id])}>
                {editor.titleOf(inner)}
              </button>
              <button type="button" class="quiet" onClick={() => put(inner.id, null)}>
                {say('takeOut')}
              </button>
            </li>
          ))}
      </ul>
      <SelectField
        label={title}
        value=""
        options={[
          { value: '', label: `${say('putInside')}…` },
          ...outside.map((one) => ({ value: one.id, label: editor.titleOf(one) })),
        ]}
        onChange={(id) => id && put(id, { id: widget.id, tab })}
      />
    </div>
  );
}
