/** The first page of the console: what there is, by section. */
import { addressOf } from '../place.ts';
import { say, withShared } from './say.ts';
import { sectionsFor } from './sections.ts';
import { type ConsolePageProps, consolePage, PageHead } from './shell.tsx';

export const texts = withShared();

const Overview = ({ deploymentId, rights }: ConsolePageProps) => (
  <>
    <PageHead title={say('admin')} />
    <div class="console-cards">
      {sectionsFor(rights).map((section) => (
        <section key={section.title} class="console-card">
          <h2>{say(section.title)}</h2>
          <ul>
            {section.pages.map((page) => (
              <li key={page.route}>
                <a href={addressOf(deploymentId, page.route)}>{say(page.title)}</a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  </>
);

export default consolePage('admin', Overview);
