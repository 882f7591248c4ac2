//! Runs every check of `wh_store::conformance`, each on a database of its own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use wh_store::Store;
use wh_store::conformance::Outcome;
use wh_store_sqlite::{OpenOptions, SqliteStore};

/// Runs one check on a new database.
fn run<F: Future<Output = Outcome>>(check: impl FnOnce(Arc<dyn Store>) -> F) {
    let directory = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let options = OpenOptions::new(directory.path().join("wheelhouse.db"));
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(options).await.unwrap());
        check(Arc::clone(&store)).await.unwrap();
        store.close().await;
    });
}

macro_rules! tests {
    ($($module:ident { $($check:ident),+ $(,)? })+) => {$(
        mod $module {
            $(
                #[test]
                fn $check() {
                    super::run(wh_store::conformance::$module::$check);
                }
            )+
        }
    )+};
}

wh_store::conformance_checks!(tests);
