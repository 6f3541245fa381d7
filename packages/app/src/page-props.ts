/** What the router gives to a page. */
export interface PageProps {
  params: Record<string, string>;
  query: Record<string, string>;
  path: string;
}
