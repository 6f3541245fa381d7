/** Opens the dialog that shares something. It is loaded when it is first needed. */
import type { Item } from '../home/items.ts';
import { attempt } from '../parts/toasts.tsx';

export const openShare = (item: Item) =>
  void attempt(async () => {
    const [{ showShare }, { say }] = await Promise.all([import('./dialog.tsx'), import('./say.ts')]);
    await say.ready();
    showShare(item);
  });
