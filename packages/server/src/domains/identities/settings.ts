/** The settings `ORIEL_OIDC_…`, as `config.ts` reads them. */
export interface ProviderSettings {
  issuer: string;
  clientId: string;
  /** Without it, the provider knows this server by PKCE alone. */
  clientSecret: string | undefined;
  /** A first sign-in creates a user. */
  createUsers: boolean;
  groupsClaim: string | undefined;
  /** The claim that is the `externalId` of users whom another system created, such as by SCIM. */
  externalIdClaim: string | undefined;
  /** What the provider is asked for, separated by spaces. */
  scope: string;
  /** For the button: "Sign in with …". */
  name: string;
}
