#include "cli/demo_command.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "absl/time/clock.h"
#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"
#include "cli/child.h"
#include "postgres/connection.h"

namespace fjord {
namespace {

namespace fs = std::filesystem;

constexpr char kSampleData[] =
    "CREATE TABLE orders (id bigint PRIMARY KEY, customer text NOT NULL, item text NOT NULL, "
    "amount numeric(10,2) NOT NULL, "
    "status text NOT NULL, placed_at timestamptz NOT NULL DEFAULT now());"
    "INSERT INTO orders SELECT i, 'customer ' || i % 97, (ARRAY['lamp','chair','table','rug'])[1 + "
    "i % 4], (i * 7 % 500) + 0.5, "
    "'placed', now() - i * interval '1 minute' FROM generate_series(1, 50000) i;";

// Each step: what a person is told, and what is typed at the source.
struct Step {
  const char* what;
  const char* sql;
};
constexpr Step kSteps[] = {
    {"300 orders are shipped", "UPDATE orders SET status = 'shipped' WHERE id <= 300"},
    {"20 orders are deleted, 5 new ones come in, one is corrected",
     "BEGIN; DELETE FROM orders WHERE id BETWEEN 301 AND 320; "
     "INSERT INTO orders (id, customer, item, amount, status) SELECT 60000 + i, 'you', 'lamp', "
     "1000, 'placed' "
     "FROM generate_series(1, 5) i; UPDATE orders SET amount = 0.99 WHERE id = 42; COMMIT"},
};
constexpr char kQuery[] =
    "SELECT status, count(*) AS orders, sum(amount) AS amount FROM lake GROUP BY status ORDER BY "
    "status";

// Runs the query through DuckDB's own Iceberg reader; prints rows as they are.
constexpr char kReader[] = R"py(import sys, pathlib, duckdb
def ext(n):
    m = __import__("duckdb_extension_" + n)
    return str(next(pathlib.Path(m.__file__).parent.glob("extensions/*/" + n + ".duckdb_extension")))
con = duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"})
for e in ("avro", "httpfs", "iceberg"):
    con.execute("LOAD '" + ext(e) + "'")
con.execute("CREATE VIEW lake AS SELECT * FROM iceberg_scan('" + sys.argv[1] + "')")
for row in con.execute(sys.argv[2]).fetchall():
    print("    " + "".join(str(v).rjust(14) for v in row))
)py";

std::string ServerFolder() {
  std::string newest;
  int version = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", error)) {
    const int found = ParseInt<int>(entry.path().filename().string()).value_or(0);
    if (found > version && fs::exists(entry.path() / "bin" / "initdb")) {
      version = found;
      newest = (entry.path() / "bin").string();
    }
  }
  return newest;
}

int FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(fd);
  return ntohs(address.sin_port);
}

// Everything that the demo made; gone with it unless it is kept.
class Demo {
 public:
  explicit Demo(const DemoOptions& options)
      : options_(options),
        folder_(fs::temp_directory_path() / StrCat("fjord-demo-", Hex(RandomBytes(4)))) {}

  ~Demo() {
    if (fjord_ > 0) EndChild(fjord_, SIGTERM);
    if (options_.after == AfterDemo::kKeep && done_) return;
    if (server_ > 0) EndChild(server_, SIGINT);
    std::error_code error;
    fs::remove_all(folder_, error);
  }

  absl::Status Run() {
    RETURN_IF_ERROR(StartServer());
    ASSIGN_OR_RETURN(const std::unique_ptr<Connection> source,
                     Connection::Open({.url = Url(), .settings = {{"search_path", "public"}}}));
    RETURN_IF_ERROR(source->Exec(kSampleData));
    std::cout << "A private PostgreSQL with 50,000 orders runs on port " << port_ << ".\n";
    RETURN_IF_ERROR(StartFjord());
    RETURN_IF_ERROR(ShowQuery("The lake after the first copy"));
    for (const Step& step : kSteps) {
      std::cout << "\nAt the source: " << step.what << ".\n  " << step.sql << "\n";
      RETURN_IF_ERROR(source->Exec(step.sql));
      const absl::Time committed = absl::Now();
      RETURN_IF_ERROR(WaitForLake(*source));
      const double seconds = absl::ToDoubleSeconds(absl::Now() - committed);
      RETURN_IF_ERROR(
          ShowQuery(StrCat("The lake ", static_cast<int>(seconds * 1000), " ms after the commit")));
    }
    done_ = true;
    PrintWhatNext();
    return absl::OkStatus();
  }

 private:
  std::string Url() const { return StrCat("postgres://postgres@127.0.0.1:", port_, "/postgres"); }
  std::string TablePath() const { return (folder_ / "lake" / "public" / "orders").string(); }

  absl::Status StartServer() {
    const std::string bin = ServerFolder();
    if (bin.empty()) {
      return absl::FailedPreconditionError(
          "no PostgreSQL server is installed below /usr/lib/postgresql: apt-get install "
          "postgresql-15");
    }
    port_ = FreePort();
    std::error_code error;
    fs::create_directories(folder_ / "server", error);
    std::string user;
    if (::getuid() == 0) {
      // The server refuses to run as root.
      user = "postgres";
      const passwd* entry = ::getpwnam("postgres");
      if (entry == nullptr ||
          ::chown((folder_ / "server").c_str(), entry->pw_uid, entry->pw_gid) != 0) {
        return absl::FailedPreconditionError(
            "the demo runs as root and there is no user postgres to run the server");
      }
    }
    const std::string data = (folder_ / "server" / "data").string();
    const std::string log = (folder_ / "server.log").string();
    ASSIGN_OR_RETURN(const pid_t initdb,
                     StartChild({.command = {bin + "/initdb", "-D", data, "-U", "postgres", "-A",
                                             "trust", "--no-sync"},
                                 .user = user,
                                 .output_file = log}));
    RETURN_IF_ERROR(Annotate(WaitChild(initdb, "initdb"), StrCat("see ", log)));
    ASSIGN_OR_RETURN(
        server_, StartChild({.command = {bin + "/postgres", "-D", data, "-p", StrCat(port_), "-c",
                                         "wal_level=logical", "-c", "listen_addresses=127.0.0.1",
                                         "-c", "unix_socket_directories=", "-c", "fsync=off"},
                             .user = user,
                             .output_file = log}));
    for (int i = 0; i < 200; ++i) {
      if (Connection::Open({.url = Url()}).ok()) return absl::OkStatus();
      absl::SleepFor(absl::Milliseconds(50));
    }
    return absl::UnavailableError(StrCat("the private PostgreSQL did not start: ", log));
  }

  absl::Status StartFjord() {
    const std::string config = (folder_ / "fjord.yaml").string();
    std::ofstream(config) << "replications:\n  shop:\n    source:\n      postgres: {url: \""
                          << Url() << "\"}\n"
                          << "    lake:\n      catalog: {embedded: {path: ./lake}}\n    tables:\n  "
                             "    - public.orders\n"
                          << "    publish: {every: 250ms}\nstateDir: ./state\n";
    std::cout << "Fjord starts with this configuration (" << config << "):\n\n"
              << ReadFile(config) << "\n"
              << std::flush;
    ASSIGN_OR_RETURN(fjord_, StartChild({.command = {"/proc/self/exe", "run", "--config", config},
                                         .output_file = (folder_ / "fjord.log").string()}));
    return WaitUntilReady();
  }

  static std::string ReadFile(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  // The hint is there after the first commit; the status file says when the table streams.
  absl::Status WaitUntilReady() {
    const std::string status = (folder_ / "state" / "shop" / "status.json").string();
    for (int i = 0; i < 600; ++i) {
      if (ReadFile(status).find("\"ready\":true") != std::string::npos) return absl::OkStatus();
      absl::SleepFor(absl::Milliseconds(100));
    }
    return absl::UnavailableError(
        StrCat("Fjord did not get ready; its log is ", ReadFile((folder_ / "fjord.log").string())));
  }

  // A commit that changes the table changes the version hint.
  absl::Status WaitForLake(Connection&) {
    const std::string hint = TablePath() + "/metadata/version-hint.text";
    for (int i = 0; i < 1000; ++i) {
      const std::string now = ReadFile(hint);
      if (now != hint_) return absl::OkStatus();
      absl::SleepFor(absl::Milliseconds(10));
    }
    return absl::UnavailableError("the change did not reach the lake within 10 s");
  }

  absl::Status ShowQuery(const std::string& title) {
    hint_ = ReadFile(TablePath() + "/metadata/version-hint.text");
    const char* python = std::getenv("FJORD_PYTHON");
    std::cout << "\n" << title << ", asked by DuckDB:\n  " << kQuery << "\n" << std::flush;
    if (python == nullptr) {
      std::cout << "    (set FJORD_PYTHON to a Python that has duckdb and its iceberg extension to "
                   "see the answer; the table is "
                << TablePath() << ")\n";
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const pid_t reader,
                     StartChild({.command = {python, "-c", kReader, TablePath(), kQuery}}));
    return WaitChild(reader, "the query");
  }

  void PrintWhatNext() const {
    std::cout
        << "\nThat is all of it. With a database of your own:\n"
        << "  1. write fjord.yaml like the one above, with its URL and tables (fjord discover "
           "proposes them)\n"
        << "  2. fjord check     says what is missing at the source, and the statement that helps\n"
        << "  3. fjord run       copies, then follows\n"
        << "docs/guide.md goes on from there.\n";
    if (options_.after == AfterDemo::kKeep) {
      std::cout << "Kept: " << folder_.string() << " (server process " << server_ << " on port "
                << port_ << "; end it with kill " << server_ << ").\n";
    }
  }

  const DemoOptions options_;
  const fs::path folder_;
  int port_ = 0;
  pid_t server_ = 0;
  pid_t fjord_ = 0;
  bool done_ = false;
  std::string hint_;
};

}  // namespace

ExitCode RunDemo(const DemoOptions& options) {
  Demo demo(options);
  const absl::Status status = demo.Run();
  if (status.ok()) return ExitCode::kClean;
  std::cerr << "fjord demo: " << Message(status) << "\n";
  return ExitCode::kFailure;
}

}  // namespace fjord
