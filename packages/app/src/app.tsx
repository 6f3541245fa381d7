/** The app: the frame, and in it the page of the address. */
import { LocationProvider, Route, Router } from 'preact-iso/router';
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

export const App = () => (
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
