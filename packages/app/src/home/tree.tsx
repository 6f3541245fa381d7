/** The folders as a tree. Items can be dropped on them. */
import { useState } from 'preact/hooks';
import { Icon } from '../parts/icons.tsx';
import { addressOf } from '../place.ts';
import { useFolders } from './data.ts';
import { dropOn } from './drag.ts';
import type { Folder } from './items.ts';
import { say } from './say.ts';

export function Tree({ deploymentId, folderId }: { deploymentId: number; folderId: number | undefined }) {
  const { data = [] } = useFolders(deploymentId);
  const here = data.find(({ id }) => id === folderId);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const isOpen = ({ id }: Folder) =>
    opened.has(id) || id === folderId || (here?.folderPath ?? []).some((above) => above.id === id);
  const known = new Set(data.map(({ id }) => id));
  const below = (parentId: number | null) =>
    data.filter((folder) => (known.has(folder.parentId ?? -1) ? folder.parentId! : null) === parentId);
  const toggle = ({ id }: Folder) => {
    const next = new Set(opened);
    if (!next.delete(id)) next.add(id);
    setOpened(next);
  };
  const branch = (parentId: number | null) => (
    <ul>
      {below(parentId).map((folder) => {
        const hasMore = below(folder.id).length > 0;
        return (
          <li key={folder.id}>
            <div class="tree-row">
              {hasMore ? (
                <button
                  type="button"
                  class="icon"
                  aria-expanded={isOpen(folder)}
                  aria-label={say(isOpen(folder) ? 'collapse' : 'expand', { name: folder.name })}
                  onClick={() => toggle(folder)}
                >
                  <Icon name={isOpen(folder) ? 'down' : 'right'} size={16} />
                </button>
              ) : (
                <span class="tree-gap" />
              )}
              <a
                href={addressOf(deploymentId, 'folder', { folderId: folder.id })}
                aria-current={folder.id === folderId ? 'page' : undefined}
                {...dropOn(folder)}
              >
                <Icon name="folder" size={16} />
                {folder.name}
              </a>
            </div>
            {hasMore && isOpen(folder) && branch(folder.id)}
          </li>
        );
      })}
    </ul>
  );
  if (data.length === 0) return null;
  return (
    <nav class="tree" aria-label={say('tree')}>
      {branch(null)}
    </nav>
  );
}
