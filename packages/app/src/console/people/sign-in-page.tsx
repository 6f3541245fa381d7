/** SCIM and OpenID Connect: the exact values to paste at each provider, and tests of what was pasted. */
import { say as sayShared, withShared } from '../say.ts';
import { consolePage, PageHead } from '../shell.tsx';
import { OidcSetUp } from './oidc-set-up.tsx';
import { say } from './say.ts';
import { ScimSetUp } from './scim-set-up.tsx';

export const texts = withShared(say);

const SignInSetUp = () => (
  <>
    <PageHead title={sayShared('signInSetUp')} hint={say('setUpHint')} />
    <div class="console-cards wide">
      <ScimSetUp />
      <OidcSetUp />
    </div>
  </>
);

export default consolePage('adminSignIn', SignInSetUp);
