/** What the start page of explore shows, as the settings of the deployment say. In a frame the session tells them. */
import { viewer } from '../creator/session.ts';
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { isEmbedded } from '../place.ts';
import type { Source } from './members.ts';

const SECTIONS = ['semantic_search', 'reports', 'source_sql'] as const;
type Section = (typeof SECTIONS)[number];

export interface Launchpad {
  sections: ReadonlySet<Section>;
  /** The view, or what the names of the views begin with, that comes first. */
  viewGroup: string | undefined;
}

const EVERYTHING: Launchpad = { sections: new Set(SECTIONS), viewGroup: undefined };

export function useLaunchpad(deploymentId: number): Launchpad {
  const { data } = useData(isEmbedded ? null : `d/${deploymentId}/settings/launchpad`, async (signal) =>
    launchpadOf(await api.getDeploymentSettings({ deploymentId }, { signal })),
  );
  if (isEmbedded) return viewer.value ? launchpadOf(viewer.value) : EVERYTHING;
  return data ?? EVERYTHING;
}

/** Names that are not known say nothing: without a known one, everything is shown. */
export function launchpadOf(settings: {
  launchpadTabs?: string[] | null | undefined;
  defaultLaunchpadViewGroup?: string | null | undefined;
}): Launchpad {
  const named = SECTIONS.filter((section) =>
    settings.launchpadTabs?.some((tab) => tab.toLowerCase() === section),
  );
  return {
    sections: new Set(named.length > 0 ? named : SECTIONS),
    viewGroup: settings.defaultLaunchpadViewGroup || undefined,
  };
}

/** Those of the group come first, in their order. */
export function inGroupOrder<Found extends { source: Pick<Source, 'name'> }>(
  found: Found[],
  { viewGroup }: Launchpad,
): Found[] {
  if (!viewGroup) return found;
  const isFirst = ({ source: { name } }: Found) => name === viewGroup || name.startsWith(`${viewGroup}_`);
  return [...found.filter(isFirst), ...found.filter((one) => !isFirst(one))];
}
