/** Who looks at the page, as the server says. */

/** Somebody who is signed in. */
export interface Person {
  id: number;
  username: string;
  email: string | null;
  firstName?: string | null;
  picture?: string | null;
}

export interface Viewer {
  /** The deployment; null for a signed-in person, where it depends on the dashboard. */
  deploymentId: number | null;
  embedTenantName: string | null;
  user: {
    id: number;
    displayName: string | null;
    username: string;
    email: string | null;
    picture: string | null;
  };
  settings: { showDashboardChat: boolean };
  embedTheme: Record<string, unknown> | null;
  expiresAt: string;
  /** How long the token is good for, by the clock of the server: that of the device may be wrong. */
  lifeMs: number;
}
