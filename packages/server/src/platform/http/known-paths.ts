/**
 * The paths that are served, for the replies to requests that no operation takes. As in OpenAPI, the most literal path
 * that matches an address is the path of that address: `/users/me` is not `/users/{id}`, whatever the method.
 */
import type { ErrorShape } from '@oriel/contract';
import type { FastifyInstance } from 'fastify';

/** An address beside our pages has the standard form. */
type AddressShape = Exclude<ErrorShape, 'page'>;

export interface KnownPaths {
  /** The methods that the path of this address accepts; none if there is no such path. */
  methodsOf(address: string): string[];
  /**
   * The form of an error at an address that has no operation: the form that all operations share whose paths begin like
   * the address, for as many segments as possible.
   */
  shapeOf(address: string): AddressShape;
}

/** The segments of operations' paths as a tree; the key of a parameter is empty. */
interface Segment {
  shape: AddressShape;
  below: Map<string, Segment>;
}

export function collectPaths(app: FastifyInstance): KnownPaths {
  const routes = new Map<string, { pattern: RegExp; methods: string[] }>();
  const root: Segment = { shape: 'standard', below: new Map() };

  const addShape = (url: string, of: ErrorShape) => {
    const shape = of === 'page' ? 'standard' : of;
    let at = root;
    for (const name of segmentsOf(url)) {
      const key = isParameter(name) ? '' : name;
      const next: Segment = at.below.get(key) ?? { shape, below: new Map() };
      if (next.shape !== shape) next.shape = 'standard';
      at.below.set(key, next);
      at = next;
    }
  };

  app.addHook('onRoute', ({ url, method, config }) => {
    if (config?.isRefused || config?.isPreflight) return;
    if (config?.operation) addShape(url, config.operation.errorShape ?? 'standard');
    const pattern = new RegExp(`^${url.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`);
    const route = routes.get(url) ?? { pattern, methods: [] };
    route.methods.push(...[method].flat());
    routes.set(url, route);
  });

  return {
    methodsOf(address) {
      const matching = [...routes].filter(([, { pattern }]) => pattern.test(address));
      const [mostLiteral] = matching.sort(([a], [b]) => byLiteralness(a, b));
      return [...new Set(mostLiteral?.[1].methods)].sort();
    },
    shapeOf(address) {
      let at = root;
      for (const name of segmentsOf(address)) {
        const next = at.below.get(name) ?? at.below.get('');
        if (!next) break;
        at = next;
      }
      return at.shape;
    },
  };
}

interface ServedPath {
  url: string;
  methods: readonly string[];
}

/**
 * Returns the methods that each path must refuse, because the router would give them to a less literal path:
 * `PUT /users/me` to `PUT /users/{id}`.
 */
export function methodsToRefuse(paths: readonly ServedPath[]): ServedPath[] {
  const split = paths.map((path) => ({ ...path, segments: segmentsOf(path.url), rank: rankOf(path.url) }));
  return split.flatMap(({ url, methods, segments, rank }) => {
    const lessLiteral = split.filter((other) => rank < other.rank && overlap(segments, other.segments));
    const theirs = new Set(lessLiteral.flatMap((other) => other.methods));
    const refused = [...theirs].filter((method) => !methods.includes(method));
    return refused.length ? [{ url, methods: refused }] : [];
  });
}

/** Whether an address can match both paths. */
function overlap(one: readonly string[], other: readonly string[]): boolean {
  return (
    one.length === other.length &&
    one.every((name, at) => {
      const otherName = other[at]!;
      // An empty segment is a final slash, which no parameter matches.
      if (name === '' || otherName === '') return name === otherName;
      return name === otherName || isParameter(name) || isParameter(otherName);
    })
  );
}

function byLiteralness(one: string, other: string): number {
  return rankOf(one) < rankOf(other) ? -1 : Number(rankOf(one) > rankOf(other));
}

/** Returns a rank for comparing paths from the left, as the router does: a word comes before a parameter. */
const rankOf = (url: string) =>
  segmentsOf(url)
    .map((name) => (isParameter(name) ? '1' : '0'))
    .join('');

const segmentsOf = (path: string) => path.split('/').slice(1);
const isParameter = (segment: string) => segment.startsWith(':');
