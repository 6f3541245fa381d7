/** What a part of the app with many pages adds to the pages at the side while one of them is shown. */
import { signal } from '@preact/signals';

export interface SideGroup {
  title: string;
  links: readonly { title: string; address: string }[];
}

export const sideGroups = signal<readonly SideGroup[]>([]);
