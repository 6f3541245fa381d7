/** The app: the frame, and in it the page of the address. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { LocationProvider, Route, Router } from 'preact-iso/router';
import { isSomebodyElse } from './data/person-access.ts';
import { Frame } from './frame/frame.tsx';
import { AccountStart, Start } from './frame/start.tsx';
import { PAGES } from './pages.tsx';
import { Dialogs } from './parts/dialog.tsx';
import { Empty } from './parts/states.tsx';
import { Toasts } from './parts/toasts.tsx';
import { IN_APP, patternOf } from './place.ts';
import type { RouteName } from './routes.ts';
import { say } from './texts/say.ts';

const NotFound = () => <Empty title={say('notFound')} hint={say('notFoundHint')} />;

/** Nothing of the page stays, because it belongs to the person before. */
function OtherPerson() {
  const [View, setView] = useState<ComponentType>();
  useEffect(() => {
    Promise.all([import('./leaving/views.tsx'), import('./leaving/say.ts')])
      .then(([views, { say: words }]) => words.ready().then(() => setView(() => views.OtherPersonPage)))
      .catch(() => location.assign('/'));
  }, []);
  return View ? <View /> : null;
}

export const App = () => (isSomebodyElse.value ? <OtherPerson /> : <FramedPages />);

const FramedPages = () => (
  <LocationProvider scope={IN_APP}>
    <Frame>
      <Router>
        <Route path="/" component={Start} />
        <Route path="/account" component={AccountStart} />
        {(Object.keys(PAGES) as RouteName[]).map((name) => (
          <Route key={name} path={patternOf(name)} component={PAGES[name]} />
        ))}
        <Route default component={NotFound} />
      </Router>
    </Frame>
    <Dialogs />
    <Toasts />
  </LocationProvider>
);
