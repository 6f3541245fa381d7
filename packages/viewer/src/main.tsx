import { render } from 'preact';
import { App } from './app.ts';
import { Page } from './page.tsx';

const app = new App();
render(<Page app={app} />, document.getElementById('page')!);
app.start();
