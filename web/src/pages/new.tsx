import { NewSession } from "@/components/new-session";
import { usePageTitle } from "@/hooks/use-page-title";

export function NewPage() {
  usePageTitle("New session");
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-2xl p-6">
        <h1 className="mb-6 text-xl font-semibold">New session</h1>
        <NewSession />
      </div>
    </div>
  );
}
