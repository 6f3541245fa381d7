/** The attributes of `<oriel-dashboard>` as properties. */
import type { ElementWithEvents } from './events.ts';

export type ColorScheme = 'light' | 'dark' | 'auto';

/** What can be set on the element. */
export const PROPERTIES = [
  'baseUrl',
  'publicId',
  'deploymentId',
  'session',
  'theme',
  'locale',
  'timezone',
  'allowExport',
  'filters',
  'getSession',
] as const;

/** A server that renders pages imports this file too, and has no elements. */
const Base = (globalThis.HTMLElement ?? class {}) as { new (): ElementWithEvents };

export class AttributesElement extends Base {
  static readonly observedAttributes = [
    'base-url',
    'public-id',
    'deployment-id',
    'session',
    'theme',
    'locale',
    'timezone',
    'allow-export',
    'filters',
  ];

  get baseUrl(): string | null {
    return this.getAttribute('base-url');
  }
  set baseUrl(value: string | null | undefined) {
    reflect(this, 'base-url', value);
  }
  get publicId(): string | null {
    return this.getAttribute('public-id');
  }
  set publicId(value: string | null | undefined) {
    reflect(this, 'public-id', value);
  }
  get deploymentId(): string | null {
    return this.getAttribute('deployment-id');
  }
  set deploymentId(value: string | number | null | undefined) {
    reflect(this, 'deployment-id', value);
  }
  get theme(): ColorScheme | null {
    return this.getAttribute('theme') as ColorScheme | null;
  }
  set theme(value: ColorScheme | null | undefined) {
    reflect(this, 'theme', value);
  }
  get locale(): string | null {
    return this.getAttribute('locale');
  }
  set locale(value: string | null | undefined) {
    reflect(this, 'locale', value);
  }
  get timezone(): string | null {
    return this.getAttribute('timezone');
  }
  set timezone(value: string | null | undefined) {
    reflect(this, 'timezone', value);
  }
  get allowExport(): boolean {
    return this.hasAttribute('allow-export') && this.getAttribute('allow-export') !== 'false';
  }
  set allowExport(value: boolean | undefined) {
    reflect(this, 'allow-export', value ? '' : null);
  }
}

function reflect(element: Element, name: string, value: string | number | null | undefined) {
  if (value === null || value === undefined) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}
