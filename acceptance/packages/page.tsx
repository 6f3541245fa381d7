/** A page that shows dashboards, by the element and by the component. */
import '@oriel/viewer/embed';
import type { OrielDashboardElement } from '@oriel/viewer';
import { OrielDashboard, type OrielDashboardProps } from '@oriel/viewer/react';
import { createRef } from 'react';

export function show(place: Element): OrielDashboardElement {
  const dashboard = document.createElement('oriel-dashboard');
  dashboard.baseUrl = 'https://analytics.example.com';
  dashboard.getSession = async () => (await fetch('/session', { method: 'POST' })).text();
  dashboard.addEventListener('dashboard-loaded', ({ detail }) => {
    const count: number | undefined = detail.widgetCount;
    // @ts-expect-error the event has no such detail
    console.log(count, detail.nothing);
  });
  // @ts-expect-error there is no such scheme
  dashboard.theme = 'purple';
  place.append(dashboard);
  return dashboard;
}

const ref = createRef<OrielDashboardElement>();

export const Sales = () => (
  <OrielDashboard
    ref={ref}
    baseUrl="https://analytics.example.com"
    publicId="DemoCommerce"
    getSession={() => 'a session'}
    onError={({ detail }) => console.log(detail.message)}
  />
);

/** Settings that may be missing can be passed on as they are. */
export const Chosen = ({
  locale,
  theme,
  color,
}: { locale?: string; color?: string } & Pick<OrielDashboardProps, 'theme'>) => (
  <OrielDashboard
    baseUrl="https://analytics.example.com"
    publicId="DemoCommerce"
    session={undefined}
    getSession={undefined}
    deploymentId={undefined}
    theme={theme}
    embedTheme={{ primaryColor: color, font: undefined, borderRadius: undefined }}
    locale={locale}
    timezone={undefined}
    allowExport={undefined}
    filters={{ 'orders.status': { value: 'paid', operator: undefined } }}
    aria-label={undefined}
    label={undefined}
    id={undefined}
    className={undefined}
    style={undefined}
    onError={undefined}
  />
);
