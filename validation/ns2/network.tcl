# A network of full-duplex lines with long flows in ns-2, for comparison with Crosswind.
#
#   ns network.tcl <file> <seed> <trace> <seconds between samples of the queues, 0 = none>
#
# The file is written by network.py and calls the commands below. Prints, at each mark, `mark <s>`, the totals of the
# watched queues and what was acknowledged of each flow; in between, `sample <queue> <s> <packets>`.

foreach {network seed trace sample_s} $argv {}
set ns [new Simulator]
set flows {}
set watched {}
set trace [expr {$trace == "" ? "" : [open $trace w]}]

proc at {name} {
    global ns nodes
    if {![info exists nodes($name)]} { set nodes($name) [$ns node] }
    return $nodes($name)
}

# What follows of RED has these parameters.
proc red {args} {
    foreach {key value} $args { Queue/RED set $key $value }
}

# One direction of a line. A RED queue reads the defaults at the time it is made.
proc line {from to rate_bps delay_s type limit} {
    global ns
    $ns simplex-link [at $from] [at $to] $rate_bps ${delay_s}s $type
    $ns queue-limit [at $from] [at $to] $limit
}

proc watch {name from to} {
    global ns watched monitor area sent before
    lappend watched $name
    set sent($name) 0
    set before($name) 0
    set monitor($name) [$ns monitor-queue [at $from] [at $to] ""]
    set area($name) [$monitor($name) get-bytes-integrator]
}

# What a host sends and gets goes into the trace.
proc traced {host router} {
    global ns trace
    $ns trace-queue [at $host] [at $router] $trace
    $ns trace-queue [at $router] [at $host] $trace
}

# ns-2 counts bytes in 32 bits.
proc tally {} {
    global ns watched monitor sent before
    foreach name $watched {
        set now [$monitor($name) set bdepartures_]
        incr sent($name) [expr {($now - $before($name)) & 0xffffffff}]
        set before($name) $now
    }
}

proc tally_every {seconds} {
    global ns
    tally
    $ns at [expr {[$ns now] + $seconds}] "tally_every $seconds"
}

proc flow {name from to agent sink start_s stop_s args} {
    global ns flows sender
    set tcp [new $agent]
    foreach {key value} $args { $tcp set $key $value }
    $tcp set fid_ [llength $flows]
    set end [new $sink]
    $ns attach-agent [at $from] $tcp
    $ns attach-agent [at $to] $end
    $ns connect $tcp $end
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at $start_s "$ftp start"
    if {$stop_s > 0} { $ns at $stop_s "$ftp stop" }
    lappend flows $name
    set sender($name) $tcp
}

proc mark {time_s} {
    global ns watched monitor area sent flows sender
    tally
    puts "mark $time_s"
    foreach name $watched {
        set m $monitor($name)
        $area($name) newpoint [$ns now] [$area($name) set lasty_]
        puts "queue $name [$m set parrivals_] [$m set pdrops_] $sent($name) [$area($name) set sum_]"
    }
    foreach name $flows { puts "flow $name [$sender($name) set ack_]" }
}

proc sample {} {
    global ns watched monitor sample_s
    foreach name $watched { puts "sample $name [$ns now] [$monitor($name) set pkts_]" }
    $ns at [expr {[$ns now] + $sample_s}] sample
}

proc marks {args} {
    global ns
    foreach time_s $args { $ns at $time_s "mark $time_s" }
    $ns at [lindex $args end] finish
}

proc finish {} {
    global ns trace
    if {$trace != ""} {
        $ns flush-trace
        close $trace
    }
    exit 0
}

source $network
if {$sample_s > 0} { $ns at $sample_s sample }
$ns at 1.0 "tally_every 1.0"
$defaultRNG seed $seed
$ns run
