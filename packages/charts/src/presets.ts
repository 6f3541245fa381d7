/** What widgets choose before the viewer does. */
import type { FilterValue, Widget } from './types.ts';

/** Presets of filter widgets; over them what the viewer chose, and over that what the address says. */
export function presetFilters(
  filterWidgets: Widget[],
  inAddress: ReadonlyMap<string, FilterValue>,
  chosen: ReadonlyMap<string, FilterValue>,
): Map<string, FilterValue> {
  const filters = new Map<string, FilterValue>();
  for (const { config } of filterWidgets) {
    const member: string = config!.member;
    const preset = inAddress.get(member) ?? chosen.get(member) ?? config!.default;
    if (preset && typeof preset.operator === 'string') filters.set(member, preset);
  }
  return filters;
}

export function presetGrains(widgets: Widget[], chosen: ReadonlyMap<string, string>): Map<string, string> {
  const grains = new Map(chosen);
  for (const { type, config } of widgets) {
    if (type !== 'TIME_GRAIN' || !config?.member || grains.has(config.member)) continue;
    if (typeof config.default === 'string') grains.set(config.member, config.default);
  }
  return grains;
}
