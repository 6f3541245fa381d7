/** Dragging items onto folders. The menu and the key M do the same. */
import { moveTo } from './actions.tsx';
import { type Item, isFolder } from './items.ts';

let dragged: readonly Item[] = [];

export const dragOf = (items: readonly Item[]) => ({
  draggable: true,
  onDragStart: (event: DragEvent) => {
    dragged = items;
    event.dataTransfer?.setData('text/plain', items.map(({ name }) => name).join('\n'));
  },
  onDragEnd: () => {
    dragged = [];
  },
});

/** For the element of a folder, or of the root. */
export const dropOn = (folder: { id: number; name: string } | null) => {
  const takes = () => dragged.length > 0 && !dragged.some((item) => isFolder(item) && item.id === folder?.id);
  return {
    onDragOver: (event: DragEvent) => {
      if (!takes()) return;
      event.preventDefault();
      (event.currentTarget as HTMLElement).classList.add('drop-here');
    },
    onDragLeave: (event: DragEvent) => (event.currentTarget as HTMLElement).classList.remove('drop-here'),
    onDrop: (event: DragEvent) => {
      (event.currentTarget as HTMLElement).classList.remove('drop-here');
      if (!takes()) return;
      event.preventDefault();
      void moveTo(dragged, folder);
    },
  };
};
