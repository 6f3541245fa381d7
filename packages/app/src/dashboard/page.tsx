import { Skeleton } from '../parts/states.tsx';

export default function Page() {
  return <Skeleton />;
}
