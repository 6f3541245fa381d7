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
    const preset = inAddress.get(member) ?? chosen.get(member) ?? defaultOf(config!.default);
    if (preset && typeof preset.operator === 'string') filters.set(member, preset);
  }
  return filters;
}

/** The preset of a filter; none if it comes from an attribute that the viewer does not have. */
const defaultOf = (given: (FilterValue & { userAttribute?: unknown }) | null | undefined) =>
  typeof given?.userAttribute === 'string' && (given.value ?? null) === null ? undefined : given;

/** Puts the values of a viewer into filters that begin with one of their attributes. The same config if there is none. */
export function withAttributes<C extends { widgets?: { config?: object | null }[] | null }>(
  config: C,
  attributes: Readonly<Record<string, unknown>>,
): C {
  if (!beginsWithAttributes(config)) return config;
  const widgets = config.widgets!.map((widget) => {
    const name = attributeIn(widget.config);
    if (name === undefined) return widget;
    const given = Object.hasOwn(attributes, name) ? attributes[name] : null;
    const value = Array.isArray(given) ? (given.length ? given : null) : (given ?? null);
    const preset = (widget.config as { default: object }).default;
    return { ...widget, config: { ...widget.config, default: { ...preset, value } } };
  });
  return { ...config, widgets };
}

export const beginsWithAttributes = ({ widgets }: { widgets?: { config?: object | null }[] | null }) =>
  (widgets ?? []).some(({ config }) => attributeIn(config) !== undefined);

function attributeIn(config: object | null | undefined): string | undefined {
  const { default: preset } = (config ?? {}) as { default?: { userAttribute?: unknown } | null };
  return typeof preset?.userAttribute === 'string' ? preset.userAttribute : undefined;
}

/** Whether viewers see a control, and whether they can change it. */
export type Visibility = 'visible' | 'disabled' | 'hidden';

export const visibilityOf = ({ config }: Pick<Widget, 'config'>): Visibility =>
  config?.visibility === 'hidden' || config?.visibility === 'disabled' ? config.visibility : 'visible';

export function presetGrains(widgets: Widget[], chosen: ReadonlyMap<string, string>): Map<string, string> {
  const grains = new Map(chosen);
  for (const { type, config } of widgets) {
    if (type !== 'TIME_GRAIN' || !config?.member || grains.has(config.member)) continue;
    if (typeof config.default === 'string') grains.set(config.member, config.default);
  }
  return grains;
}
