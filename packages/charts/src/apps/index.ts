export { ApplicationFrame } from './app-frame.tsx';
export type { DashboardDescription, FromApplication, Settings, Start, ToApplication } from './messages.ts';
