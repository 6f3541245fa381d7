/** Chooses a folder to move things to. */
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icons.tsx';
import { Skeleton } from '../parts/states.tsx';
import { useFolders } from './data.ts';
import { type Folder, type Item, isFolder } from './items.ts';
import { say } from './say.ts';

export function MoveDialog({
  items,
  onChoose,
  onClose,
}: {
  items: readonly Item[];
  onChoose(folder: Folder | null): void;
  onClose(): void;
}) {
  const { data } = useFolders(items[0]!.deploymentId);
  const moved = new Set(items.filter(isFolder).map(({ id }) => id));
  /** A folder cannot go into itself. */
  const isPossible = (folder: Folder) =>
    !moved.has(folder.id) && !(folder.folderPath ?? []).some(({ id }) => moved.has(id));
  return (
    <Dialog title={say('moveTitle', { count: items.length })} onClose={onClose}>
      {data ? (
        <ul class="places">
          <li>
            <button type="button" class="quiet with-icon" onClick={() => onChoose(null)}>
              <Icon name="home" />
              {say('root')}
            </button>
          </li>
          {inTreeOrder(data)
            .filter(isPossible)
            .map((folder) => (
              <li
                key={folder.id}
                style={{ paddingInlineStart: `${(folder.folderPath?.length ?? 0) * 18 + 18}px` }}
              >
                <button type="button" class="quiet with-icon" onClick={() => onChoose(folder)}>
                  <Icon name="folder" />
                  {folder.name}
                </button>
              </li>
            ))}
        </ul>
      ) : (
        <Skeleton lines={4} />
      )}
    </Dialog>
  );
}

/** Each folder is followed by those in it. */
export function inTreeOrder(folders: readonly Folder[]): Folder[] {
  const known = new Set(folders.map(({ id }) => id));
  const below = (parentId: number | null): Folder[] =>
    folders
      .filter((folder) => (known.has(folder.parentId ?? -1) ? folder.parentId! : null) === parentId)
      .flatMap((folder) => [folder, ...below(folder.id)]);
  return below(null);
}
