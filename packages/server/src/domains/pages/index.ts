/** Pages for people: they sign in, set a password, approve a device, and use the app. */
import type { ShowError } from '../../platform/http/error-page.ts';
import type { Module, Platform } from '../../platform/module.ts';
import type { DeviceCodes } from '../device-codes/index.ts';
import type { AppManifest, Files } from '../embedded-pages/index.ts';
import type { ForgottenPasswords, PasswordLinks } from '../password-links/index.ts';
import type { PeopleSessions } from '../sessions/index.ts';
import { appRoutes } from './app-routes.ts';
import { type Connections, connectionRoutes } from './connection-routes.ts';
import { deviceRoutes } from './device-routes.ts';
import { linkRoutes } from './link-routes.ts';
import { signInRoutes } from './routes.ts';
import { createShow, type Show } from './show.ts';
import { createThemes } from './theme.ts';
import type { SignInWay } from './views/sign-in.ts';

export type { Connections } from './connection-routes.ts';
export { ownAddress } from './own-address.ts';
export { ACCOUNT_PATH, type Show, SIGN_IN_PATH, START_PATH } from './show.ts';
export type { SignInWay } from './views/sign-in.ts';

export interface PagesOptions {
  app: Files<AppManifest>;
  people: PeopleSessions;
  devices: DeviceCodes;
  links: PasswordLinks;
  /** Undefined if no mail can be sent. */
  forgotten?: ForgottenPasswords | undefined;
  /** Ways to sign in other than with a password. The sign-in page links to them. */
  ways?: readonly SignInWay[];
  connections: Connections;
}

export function pages(
  platform: Platform,
  { app, people, devices, links, forgotten, ways = [], connections }: PagesOptions,
): Module & { showError: ShowError; show: Show } {
  const offer = { ways, hasMail: forgotten !== undefined };
  const show = createShow(createThemes(platform), offer);
  return {
    show,
    showError: show.error,
    routes: [
      ...appRoutes(app, people.console),
      ...signInRoutes(show, people, offer, forgotten),
      ...connectionRoutes(connections),
      ...deviceRoutes(show, people.console, devices),
      ...linkRoutes(show, people.console, links, offer),
    ],
  };
}
