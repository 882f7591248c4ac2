import { Link } from "@tanstack/react-router";

import { Empty } from "@/ui/empty";

export function NotFound() {
  return (
    <div className="p-6">
      <Empty title="There is no such page">
        <Link to="/" className="text-accent underline">
          All sessions
        </Link>
      </Empty>
    </div>
  );
}
