/** Components that are loaded when a dashboard first needs them. */
import type { ComponentType, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  whileLoading: VNode | null = <div class="skeleton fill" />,
): ComponentType<P> {
  let loading: Promise<void> | undefined;
  let Loaded: ComponentType<P> | undefined;
  return function Lazy(properties: P) {
    const [, setLoaded] = useState(Loaded !== undefined);
    const [error, setError] = useState<Error>();
    useEffect(() => {
      if (Loaded) return setLoaded(true);
      loading ??= load().then((component) => {
        Loaded = component;
      });
      loading.then(
        () => setLoaded(true),
        (failure) => {
          loading = undefined;
          setError(failure);
        },
      );
    }, []);
    if (error) throw error;
    return Loaded ? <Loaded {...properties} /> : whileLoading;
  };
}
