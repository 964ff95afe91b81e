import java.net.InetSocketAddress;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;

/** Serves an Iceberg JDBC catalog over REST on loopback. Arguments: port, SQLite file, warehouse folder. */
public class RestCatalog {
  public static void main(String[] args) throws Exception {
    Map<String, String> properties = Map.of(
        "catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog",
        "uri", "jdbc:sqlite:" + args[1],
        "warehouse", "file://" + args[2],
        "jdbc.schema-version", "V1",
        "io-impl", "org.apache.iceberg.hadoop.HadoopFileIO");
    Catalog catalog = CatalogUtil.buildIcebergCatalog("rest", properties, new Configuration());
    ServletContextHandler handler = new ServletContextHandler();
    handler.addServlet(new ServletHolder(new RESTCatalogServlet(new RESTCatalogAdapter(catalog))), "/*");
    Server server = new Server(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])));
    server.setHandler(handler);
    server.start();
    server.join();
  }
}
