/** Where the app is: at `/d/1` for people, or at `/embed/d/1/app` in a frame of another product. */
import { ROUTES, type RouteName } from './routes.ts';

const EMBEDDED = /^\/embed\/d\/(\d+)\/app(?=\/|$)/;

export const isEmbedded = EMBEDDED.test(location.pathname);

/** Whether the host lets creators take rows along. It says so in the address, as for dashboards. */
export const hostAllowsExport =
  isEmbedded && new URLSearchParams(location.search).get('allowExport') === 'true';

/** The deployment in an address of the app, or undefined if there is none. */
export function deploymentIn(path: string): number | undefined {
  const [, id] = EMBEDDED.exec(path) ?? /^\/d\/(\d+)(?=\/|$)/.exec(path) ?? [];
  return id ? Number(id) : undefined;
}

const baseOf = (deploymentId: number | ':deploymentId') =>
  isEmbedded ? `/embed/d/${deploymentId}/app` : `/d/${deploymentId}`;

/** The pattern of a page for the router. */
export const patternOf = (name: RouteName) => baseOf(':deploymentId') + ROUTES[name];

type ParameterOf<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? Name | ParameterOf<More>
    : Rest
  : never;

type Parameters<Name extends RouteName> = { [P in ParameterOf<(typeof ROUTES)[Name]>]: number };

/** The address of a page: `addressOf(1, 'workbook', { workbookId: 3 })`. */
export const addressOf = <Name extends RouteName>(
  deploymentId: number,
  name: Name,
  // biome-ignore lint/complexity/noBannedTypes: pages without parameters take no argument
  ...[parameters]: {} extends Parameters<Name> ? [] : [Parameters<Name>]
): string =>
  baseOf(deploymentId) +
  ROUTES[name].replaceAll(/:(\w+)/g, (_all, parameter: string) =>
    String((parameters as Record<string, number>)[parameter]),
  );

/** What the router takes for an address of the app. Links to other pages of the server leave it. */
export const IN_APP = isEmbedded
  ? /^\/embed\/d\/\d+\/app(?:[/?]|$)/
  : /^\/(?:\?|$|account(?:\?|$)|d\/\d+(?:[/?]|$))/;
