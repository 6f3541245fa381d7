/** What can be done with a column of the result table: where it stands, and how its cells are coloured. */
import { type CellRule, COLORS, OPERATORS, type TableColumn } from '@oriel/charts';
import { useState } from 'preact/hooks';
import { Dialog, openDialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icons.tsx';
import { Menu, type MenuItem } from '../parts/menu.tsx';
import { type ColumnSettings, withColumn } from './table-columns.ts';
import { say, type TextKey } from './texts/say.ts';

type Arrange = (name: string, change: (columns: ColumnSettings[]) => ColumnSettings[]) => void;

export function ColumnMenu({
  column: { member, title, isNumber },
  settings,
  arrange,
  move,
}: {
  column: TableColumn;
  settings: ColumnSettings | undefined;
  arrange: Arrange;
  move(member: string, to: { step: number }): void;
}) {
  const change = (name: string, part: Partial<ColumnSettings>) =>
    arrange(name, (columns) => withColumn(columns, member, part));
  const colors = (label: string, kind: ColumnSettings['colors'] & string): MenuItem => ({
    label,
    isChosen: settings?.colors === kind,
    run: () => change(label, { colors: settings?.colors === kind ? undefined : kind }),
  });
  const editRules = () =>
    openDialog((close) => (
      <Rules
        title={title}
        isNumber={isNumber}
        given={settings?.rules ?? []}
        onClose={close}
        onDone={(rules) => change(say('colorRules'), { rules: rules.length ? rules : undefined })}
      />
    ));
  const items: MenuItem[] = [
    { label: say('moveLeft'), run: () => move(member, { step: -1 }) },
    { label: say('moveRight'), run: () => move(member, { step: 1 }) },
    {
      label: say(settings?.pinned ? 'unpin' : 'pin'),
      run: () => change(say('pin'), { pinned: !settings?.pinned }),
    },
    ...(isNumber
      ? [
          {
            label: say('bars'),
            begins: true,
            isChosen: settings?.bar === true,
            run: () => change(say('bars'), { bar: !settings?.bar }),
          },
          colors(say('colorScale'), 'scale'),
          colors(say('colorSigns'), 'signs'),
        ]
      : []),
    { label: say('colorRulesMenu'), run: editRules, begins: !isNumber },
  ];
  return (
    <Menu label={say('memberMenu', { name: title })} items={items} class="icon small column-menu">
      <Icon name="more" size={16} />
    </Menu>
  );
}

const OPERATOR_TEXTS: Record<CellRule['operator'], TextKey> = {
  gt: 'opGt',
  gte: 'opGte',
  lt: 'opLt',
  lte: 'opLte',
  equals: 'opEquals',
};
const COLOR_TEXTS: Record<CellRule['color'], TextKey> = {
  good: 'colorGood',
  bad: 'colorBad',
  accent: 'colorAccent',
};
const RULES_MAX = 10;

function Rules({
  title,
  isNumber,
  given,
  onDone,
  onClose,
}: {
  title: string;
  isNumber: boolean;
  given: readonly CellRule[];
  onDone(rules: CellRule[]): void;
  onClose(): void;
}) {
  const first: CellRule = { operator: isNumber ? 'gt' : 'equals', value: isNumber ? 0 : '', color: 'good' };
  const [rules, setRules] = useState<CellRule[]>(given.length ? [...given] : [first]);
  const change = (at: number, part: Partial<CellRule>) =>
    setRules(rules.map((rule, i) => (i === at ? { ...rule, ...part } : rule)));
  return (
    <Dialog title={`${say('colorRules')}: ${title}`} onClose={onClose}>
      <form
        class="rules"
        onSubmit={(event) => {
          event.preventDefault();
          onDone(rules);
          onClose();
        }}
      >
        {rules.map((rule, i) => (
          <div class="rule" key={String(i)}>
            <select
              aria-label={say('operator')}
              value={rule.operator}
              onChange={(event) => change(i, { operator: event.currentTarget.value as CellRule['operator'] })}
            >
              {OPERATORS.filter((each) => isNumber || each === 'equals').map((each) => (
                <option key={each} value={each}>
                  {say(OPERATOR_TEXTS[each])}
                </option>
              ))}
            </select>
            <input
              aria-label={say('value')}
              {...(isNumber ? { type: 'number' as const } : { type: 'text' as const })}
              step="any"
              required
              maxLength={255}
              value={String(rule.value)}
              onInput={({ currentTarget: { value } }) =>
                change(i, { value: isNumber ? Number(value) : value })
              }
            />
            <select
              aria-label={say('cellColor')}
              value={rule.color}
              onChange={(event) => change(i, { color: event.currentTarget.value as CellRule['color'] })}
            >
              {COLORS.map((each) => (
                <option key={each} value={each}>
                  {say(COLOR_TEXTS[each])}
                </option>
              ))}
            </select>
            <button
              type="button"
              class="icon"
              aria-label={say('removeRule')}
              onClick={() => setRules(rules.filter((_, at) => at !== i))}
            >
              <Icon name="close" size={16} />
            </button>
          </div>
        ))}
        {rules.length < RULES_MAX && (
          <button type="button" onClick={() => setRules([...rules, first])}>
            {say('addRule')}
          </button>
        )}
        <div class="dialog-foot">
          <button type="submit" class="primary">
            {say('done')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
