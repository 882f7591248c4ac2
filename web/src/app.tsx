import { useQuery } from "@tanstack/react-query";

import { isSignedOut } from "@/api/client";
import { whoami } from "@/api/queries";
import { Layout } from "@/components/layout";
import { Live } from "@/live/live";
import { SignedOut } from "@/pages/signed-out";
import { Loaded } from "@/ui/loaded";
import { Toasts } from "@/ui/toast";

/** Everything that somebody who is signed in sees. */
export function AppRoot() {
  const who = useQuery(whoami);
  if (isSignedOut(who.error)) {
    return <SignedOut />;
  }
  return (
    <>
      <Loaded query={who}>
        {() => (
          <Live>
            <Layout />
          </Live>
        )}
      </Loaded>
      <Toasts />
    </>
  );
}
