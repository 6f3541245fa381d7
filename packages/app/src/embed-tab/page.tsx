import { Skeleton } from '../parts/states.tsx';

export default function EmbedPage() {
  return <Skeleton />;
}
