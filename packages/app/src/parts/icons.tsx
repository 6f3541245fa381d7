/** Icons as strokes of 20 by 20. They are decoration: whatever they stand beside has a name. */
const PATHS = {
  home: 'M3 9.5 10 4l7 5.5V16a1 1 0 0 1-1 1h-3.5v-4.5h-5V17H4a1 1 0 0 1-1-1z',
  recent: 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM10 6v4l2.5 2',
  mine: 'M10 10a3.25 3.25 0 1 0 0-6.5 3.25 3.25 0 0 0 0 6.5zM3.5 17c.6-3 3.2-4.5 6.5-4.5s5.9 1.5 6.5 4.5',
  shared:
    'M7 9a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM13.5 9.5a2 2 0 1 0 0-4M2 16c.4-2.6 2.3-4 5-4s4.6 1.4 5 4M14 12c2 .2 3.5 1.4 4 4',
  explore: 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM13 7l-1.8 4.2L7 13l1.8-4.2z',
  folder: 'M2.5 5.5a1 1 0 0 1 1-1h4l2 2h7a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1h-13a1 1 0 0 1-1-1z',
  workbook: 'M4 3.5h9.5A2.5 2.5 0 0 1 16 6v10.5H6.5A2.5 2.5 0 0 1 4 14zM4 14a2 2 0 0 1 2-2h10M7.5 6.5h5',
  report: 'M3.5 16.5v-13M3.5 16.5h13M7 13.5v-4M10.5 13.5v-7M14 13.5v-2.5',
  dashboard: 'M3.5 3.5h5.5v7H3.5zM11.5 3.5h5v4h-5zM11.5 10h5v6.5h-5zM3.5 13h5.5v3.5H3.5z',
  search: 'M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM13 13l4 4',
  more: 'M5 10h.01M10 10h.01M15 10h.01',
  plus: 'M10 4v12M4 10h12',
  close: 'M5 5l10 10M15 5 5 15',
  down: 'M5.5 8l4.5 4.5L14.5 8',
  right: 'M8 5.5l4.5 4.5L8 14.5',
  menu: 'M3.5 6h13M3.5 10h13M3.5 14h13',
  check: 'M4.5 10.5l3.5 3.5 7.5-8',
  share: 'M10 12.5V3.5M6.5 6.5 10 3l3.5 3.5M5 10v6.5h10V10',
  embed: 'M7 6l-4 4 4 4M13 6l4 4-4 4',
  list: 'M7 5.5h9.5M7 10h9.5M7 14.5h9.5M3.5 5.5h.01M3.5 10h.01M3.5 14.5h.01',
  grip: 'M7.5 5h.01M12.5 5h.01M7.5 10h.01M12.5 10h.01M7.5 15h.01M12.5 15h.01',
  undo: 'M7.5 4 4 7.5 7.5 11M4 7.5h8a4.25 4.25 0 0 1 0 8.5H8.5',
  redo: 'M12.5 4 16 7.5 12.5 11M16 7.5H8a4.25 4.25 0 0 0 0 8.5h3.5',
  settings: 'M4 6h6M14 6h2M4 14h2M10 14h6M12 4v4M8 12v4',
  warning: 'M10 3.5 17.5 16.5h-15zM10 8.5v3.5M10 14.5h.01',
  lock: 'M5.5 9h9v7.5h-9zM7.5 9V6.5a2.5 2.5 0 0 1 5 0V9',
  hidden:
    'M3 3l14 14M8.2 5.2A8 8 0 0 1 17 10a11 11 0 0 1-1.8 2.3M5.3 6.6A10 10 0 0 0 3 10c1.3 2.7 3.9 4.5 7 4.5 1 0 2-.2 2.9-.6',
  eye: 'M2.5 10c1.6-3.2 4.3-5 7.5-5s5.9 1.8 7.5 5c-1.6 3.2-4.3 5-7.5 5s-5.9-1.8-7.5-5zM10 7.75a2.25 2.25 0 1 0 0 4.5 2.25 2.25 0 0 0 0-4.5z',
  download: 'M10 3v9.5M6.5 9.5 10 13l3.5-3.5M4 16.5h12',
  grid: 'M3.5 3.5h5v5h-5zM11.5 3.5h5v5h-5zM3.5 11.5h5v5h-5zM11.5 11.5h5v5h-5z',
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name, size = 20 }: { name: IconName; size?: number }) => (
  <svg
    class={name === 'right' ? 'icon mirrored' : 'icon'}
    width={size}
    height={size}
    viewBox="0 0 20 20"
    aria-hidden="true"
  >
    <path d={PATHS[name]} />
  </svg>
);
