export { ApplicationFrame } from './app-frame.tsx';
export type { Described, FromApplication, Settings, Start, ToApplication } from './messages.ts';
