//! The HTML page in a real browser: what it shows, how it is used, and that nothing from a repository can do anything in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::program::{outcrop, run};
use crate::repo::TestRepo;
use crate::required::absent;

/// The browser, if one is installed.
fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found =
        std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name))).find(|it| it.is_file());
    if found.is_none() {
        absent("chromium", "it is not installed; .ci/run installs the package chromium where it may");
    }
    found
}

/// A page that was loaded.
struct Loaded {
    /// The document after its scripts ran.
    dom: String,
    /// What the browser logged.
    log: String,
    /// Every address that the browser asked for.
    requests: String,
}

fn load(browser: &Path, page: &Path, fragment: &str) -> Loaded {
    let profile = TempDir::new().unwrap();
    let net_log = profile.path().join("net.json");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
        .args(["--disable-component-update", "--disable-dev-shm-usage", "--enable-logging=stderr", "--dump-dom"])
        .arg("--virtual-time-budget=4000")
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--log-net-log={}", net_log.display()))
        .arg(format!("file://{}{fragment}", page.display()))
        .output()
        .unwrap();
    Loaded {
        dom: String::from_utf8_lossy(&output.stdout).into_owned(),
        log: String::from_utf8_lossy(&output.stderr).into_owned(),
        requests: fs::read_to_string(net_log).unwrap_or_default(),
    }
}

/// A repository with a change of many kinds, and names that attack whatever shows them.
fn hostile_repository() -> TestRepo {
    let repo = TestRepo::new();
    let attack =
        "\"><script>document.title='attacked'</script><img src=http://outcrop-test.invalid/x onerror=alert(1)>";
    let document = |kind: &str, name: &str, value: &str| {
        format!("apiVersion: v1\nkind: {kind}\nmetadata:\n  name: {name}\ndata:\n  key: '{value}'\n")
    };
    let write = |value: &str| {
        for at in 0..3 {
            repo.write(format!("apps/a{at}/config.yaml"), document("ConfigMap", &format!("shared-{at}"), value));
        }
        repo.write("infra/service.yaml", document("Service", "dns", &format!("needle {value}")));
        repo.write(
            "infra/attack.yaml",
            format!("'{}': '{attack} {value}'\n", attack.replace('\'', "''")).replace("='attacked'", "=1"),
        );
    };
    write("old");
    repo.commit_all("before");
    write("new");
    repo.write("infra/<b>new&amp;.yaml", document("ConfigMap", "added", "</script><script>document.title=1</script>"));
    repo.commit_all("after");
    repo
}

fn written(repo: &TestRepo, name: &str, edit: impl Fn(String) -> String) -> PathBuf {
    let ran = run(&mut outcrop(repo, &["diff", "--format", "html", "HEAD~1", "HEAD"]));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let page = repo.beside(name);
    fs::write(&page, edit(ran.stdout)).unwrap();
    page
}

#[test]
fn a_hostile_report_is_harmless_and_nothing_is_requested() {
    let Some(browser) = browser() else { return };
    let repo = hostile_repository();
    let page = written(&repo, "page.html", |text| text);
    let Loaded { dom, log, requests } = load(&browser, &page, "");
    assert!(dom.contains("<html lang=\"en\" class=\"js\">"), "the policy lets the page's own script run\n{log}");
    assert!(dom.contains("<title>outcrop: HEAD~1 → HEAD</title>"), "{dom}");
    assert!(!dom.contains("<img") && !dom.contains("<b>new"), "{dom}");
    assert!(!log.contains("CONSOLE"), "{log}");
    assert!(!requests.contains("outcrop-test.invalid"), "{requests}");
    assert_eq!(dom.matches("<script").count(), 2, "the report and the page's own script");
}

/// The page with a script that uses it, and whose findings become the title.
fn driven(repo: &TestRepo, name: &str, script: &str) -> PathBuf {
    written(repo, name, |text| {
        let start = text.find("script-src 'sha256-").expect("a policy");
        let end = start + text[start..].find(';').expect("an end");
        let open = format!("{}script-src 'unsafe-inline'{}", &text[..start], &text[end..]);
        open.replace("</body>", &format!("<script>{script}</script></body>"))
    })
}

#[test]
fn filters_search_links_and_keys_work() {
    let Some(browser) = browser() else { return };
    let repo = hostile_repository();
    let script = "
        const visible = () => Array.from(document.querySelectorAll('article')).filter((it) => !it.hidden).length;
        const key = (key) => document.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
        const said = [];
        said.push('all ' + visible());
        const box = document.querySelector('input[data-facet=kind][value=Service]');
        box.click(); said.push('kind ' + visible()); box.click();
        key('j'); const first = document.activeElement.id; key('j'); const second = document.activeElement.id; key('k');
        said.push('keys ' + (first && second && first !== second && document.activeElement.id === first));
        key('/'); said.push('search ' + (document.activeElement.id === 'search'));
        const search = document.getElementById('search');
        search.value = 'needle'; search.dispatchEvent(new Event('input'));
        setTimeout(() => {
          said.push('found ' + visible() + ' ' + document.getElementById('shown').textContent);
          location.hash = '#' + first;
          setTimeout(() => {
            said.push('link ' + (document.activeElement.id === first) + ' ' + visible());
            document.title = said.join('; ');
          }, 300);
        }, 300);";
    let page = driven(&repo, "driven.html", script);
    let Loaded { dom, log, .. } = load(&browser, &page, "");
    let title = dom.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next()).unwrap_or_default();
    let expected = "all 4; kind 1; keys true; search true; found 1 1 of 4 blocks; link true 4";
    assert_eq!(title, expected, "{log}");
}

#[test]
fn a_link_to_a_block_opens_it() {
    let Some(browser) = browser() else { return };
    let repo = hostile_repository();
    let page = driven(&repo, "linked.html", "document.title = 'at ' + document.activeElement.id;");
    let text = fs::read_to_string(&page).unwrap();
    let id = text.split("<article id=\"").nth(2).and_then(|rest| rest.split('"').next()).expect("a block");
    let Loaded { dom, .. } = load(&browser, &page, &format!("#{id}"));
    assert!(dom.contains(&format!("<title>at {id}</title>")), "{id}");
}
