/** Items as a table: with the keys of a file manager, and a menu for each. */

import { useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Icon } from '../parts/icons.tsx';
import { Menu, type MenuItem } from '../parts/menu.tsx';
import { openShare } from '../sharing/open.ts';
import { locale } from '../texts/index.ts';
import { askForName, askForPlace, canDuplicate, duplicate, remove } from './actions.tsx';
import type { Rights } from './data.ts';
import { dragOf, dropOn } from './drag.ts';
import {
  addressOfItem,
  type Item,
  iconOfItem,
  isFolder,
  isPublished,
  isWorkbook,
  keyOfItem,
  nameOfItem,
  placeOfItem,
} from './items.ts';
import { Picture } from './picture.tsx';
import { say } from './say.ts';

export interface ListProps {
  items: readonly Item[];
  rightsOf(item: Item): Rights;
  canCreate: boolean;
  selected: ReadonlySet<string>;
  select(keys: ReadonlySet<string>): void;
  /** Whether items of several folders are listed. */
  showsPlace: boolean;
  /** What the addresses of folders end with. */
  folderQuery?: string;
}

export function List({
  items,
  rightsOf,
  canCreate,
  selected,
  select,
  showsPlace,
  folderQuery = '',
}: ListProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const { route } = useLocation();
  const chosen = items.filter((item) => selected.has(keyOfItem(item)));
  /** An action on one of the selected items is about all of them. */
  const meant = (item: Item) => (selected.has(keyOfItem(item)) ? chosen : [item]);
  const toggle = (item: Item) => {
    const next = new Set(selected);
    if (!next.delete(keyOfItem(item))) next.add(keyOfItem(item));
    select(next);
  };
  const clear = () => select(new Set());
  const focusAt = (index: number) =>
    body.current?.querySelectorAll<HTMLElement>('a.item-name')[index]?.focus();
  const removeMeant = (item: Item) => {
    const at = items.indexOf(item);
    remove(meant(item));
    clear();
    // The row is gone; the focus stays in the list.
    setTimeout(() => focusAt(Math.min(at, items.length - 2)));
  };

  function onKeyDown(event: KeyboardEvent, item: Item) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const rights = rightsOf(item);
    const all = meant(item);
    const mayMoveAll = all.every((one) => rightsOf(one).canMove);
    const at = items.indexOf(item);
    const run = {
      ArrowDown: () => focusAt(Math.min(at + 1, items.length - 1)),
      ArrowUp: () => focusAt(Math.max(at - 1, 0)),
      F2: rights.canEdit ? () => askForName(item) : undefined,
      Delete: mayMoveAll ? () => removeMeant(item) : undefined,
      m: mayMoveAll ? () => askForPlace(all, clear) : undefined,
      ' ': () => toggle(item),
      Escape: selected.size > 0 ? clear : undefined,
    }[event.key];
    if (!run || !(event.target as HTMLElement).matches('a.item-name')) return;
    event.preventDefault();
    run();
  }

  const menuOf = (item: Item): MenuItem[] => {
    const rights = rightsOf(item);
    const entries: (MenuItem | false)[] = [
      { label: say('open'), run: () => route(addressOfItem(item)) },
      rights.canEdit && { label: say('rename'), run: () => askForName(item) },
      rights.canMove && { label: say('move'), run: () => askForPlace(meant(item), clear) },
      canCreate && canDuplicate(item) && { label: say('duplicate'), run: () => void duplicate(item) },
      rights.canManage && { label: say('share'), begins: true, run: () => openShare(item) },
      rights.canMove && {
        label: say('remove'),
        begins: true,
        isDangerous: true,
        run: () => removeMeant(item),
      },
    ];
    return entries.filter((entry) => entry !== false);
  };

  const kindOf = (item: Item) =>
    isFolder(item)
      ? say('folder')
      : isWorkbook(item)
        ? isPublished(item)
          ? say('dashboard')
          : say('workbook')
        : say('report');

  const date = new Intl.DateTimeFormat(locale.value, { dateStyle: 'medium' });
  const areAll = chosen.length === items.length && items.length > 0;
  return (
    <table class="items">
      <thead>
        <tr>
          <th class="narrow">
            <input
              type="checkbox"
              aria-label={say('selectAll')}
              checked={areAll}
              onChange={() => select(areAll ? new Set() : new Set(items.map(keyOfItem)))}
            />
          </th>
          <th>{say('name')}</th>
          <th class="wide-only">{say('kind')}</th>
          {showsPlace && <th class="wide-only">{say('place')}</th>}
          <th class="wide-only">{say('owner')}</th>
          <th class="wide-only">{say('changed')}</th>
          <td class="narrow" />
        </tr>
      </thead>
      <tbody ref={body}>
        {items.map((item) => {
          const name = nameOfItem(item);
          return (
            <tr
              key={keyOfItem(item)}
              aria-selected={selected.has(keyOfItem(item))}
              onKeyDown={(event) => onKeyDown(event, item)}
              {...(meant(item).every((one) => rightsOf(one).canMove) ? dragOf(meant(item)) : {})}
              {...(isFolder(item) ? dropOn(item) : {})}
            >
              <td class="narrow">
                <input
                  type="checkbox"
                  aria-label={say('select', { name })}
                  checked={selected.has(keyOfItem(item))}
                  onChange={() => toggle(item)}
                />
              </td>
              <td>
                <a
                  class="item-name"
                  href={addressOfItem(item) + (isFolder(item) ? folderQuery : '')}
                  draggable={false}
                >
                  <Face item={item} />
                  <span>{name}</span>
                </a>
              </td>
              <td class="wide-only soft-cell kind-cell">{kindOf(item)}</td>
              {showsPlace && <td class="wide-only soft-cell">{placeOfItem(item) || say('root')}</td>}
              <td class="wide-only soft-cell">{ownerOf(item)}</td>
              <td class="wide-only soft-cell">{date.format(new Date(item.updatedAt))}</td>
              <td class="narrow">
                <Menu label={say('actionsFor', { name })} items={menuOf(item)}>
                  <Icon name="more" />
                </Menu>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** A published dashboard is known by its picture. */
function Face({ item }: { item: Item }) {
  const outline = isWorkbook(item) && isPublished(item) ? item.dashboardOutline : undefined;
  return outline?.length ? <Picture outline={outline} /> : <Icon name={iconOfItem(item)} />;
}

const ownerOf = (item: Item) => (isFolder(item) ? '' : (item.user?.firstName ?? item.user?.email ?? ''));
